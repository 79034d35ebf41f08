import canonicalize from 'canonicalize';
import { keccak256, toHex } from 'viem';
import type { WagerDoc } from '../wager/wagers.ts';
import type { PipelineParts } from './parts.ts';

/**
 * Logs the outcome of every settled wager to the ERC-8004 reputation registry, by the reporter's wallet and labelled as the
 * operator's own. A wager's key finds a transaction that an earlier run sent.
 * @throws OracleError TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE; the step waits.
 */
export async function reputationStep(parts: PipelineParts): Promise<number> {
  const wagers = await parts.wagers.unreported();
  for (const wager of wagers) {
    const { txHash, at } = await parts.reporter.report(`feedback:${wager._id}`, {
      outcome: wager.state === 'WIN' ? 'WIN' : 'LOSS',
      endpoint: parts.publicUrl,
      feedbackHash: keccak256(toHex(evidence(wager))),
    });
    await parts.wagers.recordFeedback(wager._id, txHash, at);
  }
  return wagers.length;
}

/** What the outcome can be checked against, as canonical JSON. */
function evidence({ _id, venue, market, side, contracts, costMicros, winner, payoutMicros, asset }: WagerDoc): string {
  return canonicalize({ date: _id, venue, market: market?.id, side, contracts, costMicros, winner, payoutMicros, asset }) as string;
}
