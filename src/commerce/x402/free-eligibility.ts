import type { Chain } from '../../chain/client.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import type { ClaimDoc } from './claim-store.ts';
import type { FailedSettlementStore } from './failed-settlements.ts';
import { parseWalletDeployment } from './settlement/deployments/wallet-deployment.ts';
import type { Facilitator } from './settlement/facilitator.ts';

export interface FreeEligibilityDeps {
  chain: Pick<Chain, 'client'>;
  facilitator: Pick<Facilitator, 'simulatesSettlement'>;
  failures: FailedSettlementStore;
  now(): Date;
}

/** A contract wallet, deployed or not, can accept a signature during verification only: it is charged unless the settlement itself was simulated. */
export async function isEligibleForFreeAnswer(deps: FreeEligibilityDeps, { payer, payload }: ClaimDoc): Promise<boolean> {
  const { chain, facilitator, failures, now } = deps;
  if (await failures.isCharged(payer, now())) return false;
  if (facilitator.simulatesSettlement) return true;
  if (parseWalletDeployment(payload.payload.signature) !== null) return false;
  const code = await chainCall('Reading the code of a payer', () => chain.client.getCode({ address: payer }));
  return code === undefined || code === '0x';
}
