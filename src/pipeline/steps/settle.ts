import { OracleError } from '../../errors.ts';
import type { ReachedInstant } from '../../platform/time.ts';
import type { Venue } from '../../wager/venue.ts';
import type { WagerDoc } from '../../wager/wagers.ts';
import type { PipelineContext, StepContext } from '../forecaster.ts';
import { findVenue } from './wager.ts';

/** Markets without a stake are settled too, for the comparison. @throws the first error after all were tried; OracleError STEP_WAITING */
export async function runSettleStep(deps: PipelineContext, { now, time }: Pick<StepContext, 'now' | 'time'>): Promise<number> {
  const due = await deps.wagers.listUnsettled(now);
  const errors: unknown[] = [];
  let settled = 0;
  for (const wager of due) {
    const venue = findSettlingVenue(deps, wager);
    if (venue === undefined) continue;
    try {
      const expired = await time.requireReached(wager.market!.expiresAt.getTime(), `The expiry of the market of ${wager._id}`);
      if (await settleWager(deps.wagers, venue, { wager, now, expired })) settled++;
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
  requireConfiguredVenues(due.filter((wager) => findSettlingVenue(deps, wager) === undefined));
  return settled;
}

/** Its own venue; for a market without a stake, any venue of the same order book. */
function findSettlingVenue(deps: PipelineContext, wager: WagerDoc): Venue | undefined {
  const own = findVenue(deps, wager);
  if (own !== undefined || wager.state !== 'SKIPPED') return own;
  return [deps.venue, ...deps.otherVenues].find(({ sameBook }) => sameBook.includes(wager.venue));
}

async function settleWager(
  wagers: PipelineContext['wagers'],
  venue: Venue,
  { wager, now, expired }: { wager: WagerDoc; now: Date; expired: ReachedInstant },
): Promise<boolean> {
  if (wager.state === 'SKIPPED') {
    const winner = await venue.findWinner(wager.market!, now);
    if (winner !== null) await wagers.recordWinner(wager._id, winner === 'VOID' ? null : winner, now, expired);
    return winner !== null;
  }
  const settlement = await venue.settleOrder(wager._id, now);
  if (settlement === null) return false;
  const { winner, payoutMicros, at } = settlement;
  const state = winner === null ? 'VOID' : winner === wager.side ? 'WIN' : 'LOSS';
  await wagers.settle(wager._id, state, { winner, payoutMicros, settledAt: at }, expired);
  return true;
}

function requireConfiguredVenues(withoutVenue: WagerDoc[]): void {
  if (withoutVenue.length === 0) return;
  const byVenue = Map.groupBy(withoutVenue, ({ venue }) => venue);
  const counts = [...byVenue].map(([venue, { length }]) => `${length} of ${venue}`);
  throw new OracleError('STEP_WAITING', `Wagers wait for venues that are not configured: ${counts.join(', ')}`);
}
