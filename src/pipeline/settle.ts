import type { Venue } from '../wager/venue.ts';
import type { WagerDoc } from '../wager/wagers.ts';
import type { PipelineParts, StepContext } from './parts.ts';

/**
 * Settles every wager whose market has expired. Markets of days without a stake are settled too: the comparison of model and market
 * needs them all.
 */
export async function settleStep({ wagers, venue, otherVenues }: PipelineParts, { now }: StepContext): Promise<number> {
  const expired = await wagers.unsettled(now);
  let settled = 0;
  for (const wager of expired) {
    const itsVenue = [venue, ...otherVenues].find(({ name }) => name === wager.venue);
    if (itsVenue !== undefined && (await settleWager(wagers, itsVenue, wager, now))) settled++;
  }
  return settled;
}

async function settleWager(wagers: PipelineParts['wagers'], venue: Venue, wager: WagerDoc, now: Date): Promise<boolean> {
  if (wager.state === 'SKIPPED') {
    const winner = await venue.winner(wager.market!, now);
    if (winner !== null) await wagers.recordWinner(wager._id, winner, now);
    return winner !== null;
  }
  const settlement = await venue.settle(wager._id, now);
  if (settlement === null) return false;
  const { winner, payoutMicros, at } = settlement;
  await wagers.move(wager._id, 'PLACED', winner === wager.side ? 'WIN' : 'LOSS', { winner, payoutMicros, settledAt: at });
  return true;
}
