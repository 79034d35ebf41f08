import { selectNearTheMoney } from '../../market/strikes.ts';
import { roundTo } from '../../platform/round.ts';
import type { DayDoc } from '../day-doc.ts';
import { fromCents } from '../forecast-doc.ts';
import type { ModelDoc } from '../model-store.ts';
import type { OracleDeps } from '../oracle/deps.ts';
import { loadOrNoteMissing, type MissingPart } from '../oracle/missing-parts.ts';
import { computeStrikeProbability } from './strike-probability.ts';
import { type StrikeView, type TrackedStrike, toSnapshotStrike, toVenueStrike, viewStrikes } from './strike-view.ts';

const STRIKES_PER_LADDER = 5;

export async function listNearStrikes(
  { deps, day, model }: { deps: Pick<OracleDeps, 'market' | 'venueMarkets' | 'venueName' | 'now'>; day: DayDoc; model: ModelDoc | null },
  missing: MissingPart[],
) {
  const now = deps.now();
  const [seen, own, spot] = await Promise.all([
    loadOrNoteMissing(missing, 'strikes', () => deps.market.strikes(now.getTime())),
    loadOrNoteMissing(missing, `strikes of ${deps.venueName}`, () => deps.venueMarkets()),
    loadOrNoteMissing([], 'price', () => deps.market.spot(now.getTime())),
  ]);
  const spotUsd = spot?.priceUsd ?? fromCents(day.price!.cents);
  const tracked = [...(seen ?? []).map(toSnapshotStrike), ...(own ?? []).map((entry) => toVenueStrike(deps.venueName, entry))];
  const at = day.signalAt;
  const probability =
    model && (({ strikeUsd, expiresAt }: TrackedStrike) => computeStrikeProbability({ day, model, strikeUsd, expiresAt, at }));
  return viewStrikes(selectNearestPerLadder(tracked, spotUsd, now), { spotUsd, now, gated: false, probability }).map(toNearStrike);
}

function selectNearestPerLadder(strikes: TrackedStrike[], spotUsd: number, now: Date): TrackedStrike[] {
  const open = strikes.filter(({ expiresAt }) => expiresAt > now);
  const ladders = Map.groupBy(open, ({ venue, expiresAt }) => `${venue} ${expiresAt.getTime()}`);
  return [...ladders.values()].flatMap((ladder) => selectNearTheMoney(ladder, spotUsd, STRIKES_PER_LADDER));
}

function toNearStrike(view: StrikeView) {
  const { venue, marketId, question, strike, expiresAt, bid, ask, yesPrice, bids, asks, modelProbability } = view;
  const { atTheMoney, madeByService, url, observedAt, stale } = view;
  const difference = modelProbability === null || yesPrice === null ? null : roundTo(modelProbability - yesPrice, 4);
  return {
    venue,
    marketId,
    question,
    strike,
    expiresAt,
    bid,
    ask,
    yesPrice,
    bids,
    asks,
    modelProbability,
    difference,
    atTheMoney,
    madeByService,
    url,
    observedAt,
    stale,
  };
}
