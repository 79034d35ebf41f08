import canonicalize from 'canonicalize';
import { keccak256, toHex } from 'viem';
import { saltFor } from '../chain/commitment.ts';
import { lastDayOver } from '../record/forecast.ts';
import type { WagerDoc } from '../wager/wagers.ts';
import type { PipelineParts, StepContext } from './parts.ts';

/**
 * Logs the outcome of every settled wager to the ERC-8004 reputation registry, by the reporter's wallet and labelled as the
 * operator's own. A wager's key finds a transaction that an earlier run sent. A market may settle before the day's forecasts do, and
 * an outcome tells the side that was taken: it is reported once all of them are over.
 * @throws OracleError TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE; the step waits.
 */
export async function reputationStep(parts: PipelineParts, { now }: StepContext): Promise<number> {
  const wagers = await parts.wagers.unreported(lastDayOver(now));
  for (const wager of wagers) {
    const { txHash, at } = await parts.reporter.report(`feedback:${wager._id}`, {
      outcome: wager.state === 'WIN' ? 'WIN' : 'LOSS',
      endpoint: parts.publicUrl,
      feedbackHash: keccak256(toHex(evidence(wager, parts.saltSecret))),
    });
    await parts.wagers.recordFeedback(wager._id, txHash, at);
  }
  return wagers.length;
}

/** What the outcome can be checked against, as canonical JSON. Salted: few wagers are possible, and stakes tell the forecast. */
function evidence({ _id, venue, market, side, contracts, costMicros, winner, payoutMicros, asset }: WagerDoc, saltSecret: string): string {
  const salt = saltFor(saltSecret, `wager:${_id}`);
  return canonicalize({ date: _id, venue, market: market?.id, side, contracts, costMicros, winner, payoutMicros, asset, salt }) as string;
}
