import type { Chain } from '../../chain/client.ts';
import { chainCall } from '../../chain/rpc-error.ts';
import type { ClaimDoc } from './claims.ts';
import type { Facilitator } from './facilitator.ts';
import type { FailedSettlements } from './failed-settlements.ts';

export interface FreeAnswerDeps {
  chain: Pick<Chain, 'client'>;
  facilitator: Pick<Facilitator, 'simulatesSettlement'>;
  failures: FailedSettlements;
  now(): Date;
}

/**
 * Whether a payer gets what is free without a charge: only where the payment would have been settled otherwise. A contract can be valid
 * for a verification alone, so it pays wherever the settlement itself was not simulated.
 * @throws OracleError CHAIN_UNREACHABLE
 */
export async function isFreeFor({ chain, facilitator, failures, now }: FreeAnswerDeps, { payer }: ClaimDoc): Promise<boolean> {
  if (await failures.isCharged(payer, now())) return false;
  if (facilitator.simulatesSettlement) return true;
  const code = await chainCall('Reading the code of a payer', () => chain.client.getCode({ address: payer }));
  return code === undefined || code === '0x';
}
