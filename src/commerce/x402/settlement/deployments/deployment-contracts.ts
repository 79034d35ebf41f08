import type { Address } from 'viem';
import { MULTICALL3_ADDRESS } from '../../../../chain/addresses.ts';
import type { Chain } from '../../../../chain/client.ts';
import { chainCall } from '../../../../chain/rpc/chain-call.ts';
import { OracleError } from '../../../../platform/errors.ts';

/** A call of an address without code succeeds and does nothing. @throws OracleError CONFIG_INVALID naming X402_WALLET_FACTORIES */
export async function requireDeploymentContracts({ client }: Pick<Chain, 'client'>, factories: readonly Address[]): Promise<void> {
  if (factories.length === 0) return;
  for (const address of [MULTICALL3_ADDRESS, ...factories]) {
    const code = await chainCall('Reading the code of a wallet factory', () => client.getCode({ address }));
    if (code !== undefined && code !== '0x') continue;
    const problem =
      address === MULTICALL3_ADDRESS ? 'needs Multicall3, which this chain does not have at' : 'names a factory without code:';
    throw new OracleError('CONFIG_INVALID', `Setting X402_WALLET_FACTORIES: ${problem} ${address}`, {
      field: 'X402_WALLET_FACTORIES',
      suggestedAction: 'Name factories that are deployed on this chain, or unset it: wallets that are not deployed are then refused.',
    });
  }
}
