import type { Chain } from '../../../../chain/client.ts';
import { chainCall } from '../../../../chain/rpc/chain-call.ts';
import type { Facilitator } from '../facilitator.ts';
import { parseWalletDeployment } from './wallet-deployment.ts';

export interface ForwardedDeploymentsDeps {
  chain: Pick<Chain, 'client'>;
  /** Whether the remote facilitator says that it deploys payers' wallets. */
  isSupported(): Promise<boolean>;
}

/** Forwards payments of wallets that are yet to be deployed only where the remote facilitator says that it deploys them. */
export function forwardSupportedDeployments(facilitator: Facilitator, { chain, isSupported }: ForwardedDeploymentsDeps): Facilitator {
  return {
    ...facilitator,
    async verify(payment, requirements, client) {
      if (parseWalletDeployment(payment.signature) !== null) {
        const address = payment.authorization.from;
        const code = await chainCall('Reading the code of a payer', () => chain.client.getCode({ address }));
        if ((code === undefined || code === '0x') && !(await isSupported())) return 'eip6492_unsupported_by_facilitator';
      }
      return facilitator.verify(payment, requirements, client);
    },
  };
}
