import { OracleError } from '../errors.ts';
import type { ReachedInstant } from '../trusted-time.ts';
import type { Venue } from '../wager/venue.ts';
import type { WagerDoc } from '../wager/wagers.ts';
import type { PipelineParts, StepContext } from './parts.ts';
import { venueOf } from './venue-of.ts';

type SettleParts = Pick<PipelineParts, 'wagers' | 'venue' | 'otherVenues'>;

/**
 * Settles every wager whose market has expired, and returns how many it settled. Markets of days without a stake are settled too: the
 * comparison of model and market needs them all. A wager that cannot be settled does not hold up the others.
 * @throws as `TrustedTime.reach`; what the first such wager's venue threw, once all have been gone through; else OracleError STEP_WAITING when wagers stand at
 * venues that are not configured.
 */
export async function settleStep(parts: SettleParts, { now, time }: Pick<StepContext, 'now' | 'time'>): Promise<number> {
  const due = await parts.wagers.unsettled(now);
  const errors: unknown[] = [];
  let settled = 0;
  for (const wager of due) {
    const venue = settlingVenue(parts, wager);
    if (venue === undefined) continue;
    try {
      const expired = await time.reach(wager.market!.expiresAt.getTime(), `The expiry of the market of ${wager._id}`);
      if (await settleWager(parts.wagers, venue, { wager, now, expired })) settled++;
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
  requireVenues(due.filter((wager) => settlingVenue(parts, wager) === undefined));
  return settled;
}

/** Its own venue; for a market without a stake any that has the same book knows who won. */
function settlingVenue(parts: SettleParts, wager: WagerDoc): Venue | undefined {
  const own = venueOf(parts, wager);
  if (own !== undefined || wager.state !== 'SKIPPED') return own;
  return [parts.venue, ...parts.otherVenues].find(({ sameBook }) => sameBook.includes(wager.venue));
}

interface ExpiredWager {
  wager: WagerDoc;
  now: Date;
  expired: ReachedInstant;
}

async function settleWager(wagers: PipelineParts['wagers'], venue: Venue, { wager, now, expired }: ExpiredWager): Promise<boolean> {
  if (wager.state === 'SKIPPED') {
    const winner = await venue.winner(wager.market!, now);
    if (winner !== null) await wagers.recordWinner(wager._id, winner, now, expired);
    return winner !== null;
  }
  const settlement = await venue.settle(wager._id, now);
  if (settlement === null) return false;
  const { winner, payoutMicros, at } = settlement;
  await wagers.settle(wager._id, winner === wager.side ? 'WIN' : 'LOSS', { winner, payoutMicros, settledAt: at }, expired);
  return true;
}

function requireVenues(withoutVenue: WagerDoc[]): void {
  if (withoutVenue.length === 0) return;
  const byVenue = Map.groupBy(withoutVenue, ({ venue }) => venue);
  const counts = [...byVenue].map(([venue, { length }]) => `${length} of ${venue}`);
  throw new OracleError('STEP_WAITING', `Wagers wait for venues that are not configured: ${counts.join(', ')}`);
}
