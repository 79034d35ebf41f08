import { type BookLevel, nearestTheMoney } from '../../market/strikes.ts';
import type { DayDoc } from '../day-record.ts';
import { fromCents } from '../forecast.ts';
import type { ModelDoc } from '../models.ts';
import { strikeProbability } from '../strike-probability.ts';
import { type StrikeView, strikeOfSnapshot, strikeOfVenue, type TrackedStrike, viewStrikes } from '../strike-views.ts';
import { type Missing, orMissing } from './missing.ts';
import type { OracleParts } from './parts.ts';

/** Strikes told of each venue and expiry. */
const STRIKES_OF_A_LADDER = 5;

/** A strike of a prediction market near the money: its price, its book, and what the forecast makes of it. */
export interface NearStrike {
  venue: string;
  marketId: string;
  question: string;
  strike: number;
  expiresAt: string;
  bid: number | null;
  ask: number | null;
  /** Middle of bid and ask; the last price where one of them is missing. */
  yesPrice: number | null;
  bids: BookLevel[];
  asks: BookLevel[];
  /** P(price above the strike) at expiry by the forecast. */
  modelProbability: number | null;
  /** Of the model over the market's price, before costs. */
  difference: number | null;
  atTheMoney: boolean;
  madeByService: boolean;
  url: string | null;
  observedAt: string;
  stale: boolean;
}

export interface NearStrikesOf {
  parts: Pick<OracleParts, 'market' | 'venueMarkets' | 'venueName' | 'now'>;
  /** The day of the forecast, and the model that it was made with. */
  day: DayDoc;
  model: ModelDoc | null;
}

/** Open strikes near the money of all venues that are seen, by expiry; what cannot be had is noted as missing. */
export async function nearStrikes({ parts, day, model }: NearStrikesOf, missing: Missing[]): Promise<NearStrike[]> {
  const now = parts.now();
  const [seen, own, spot] = await Promise.all([
    orMissing(missing, 'strikes', () => parts.market.strikes(now.getTime())),
    orMissing(missing, `strikes of ${parts.venueName}`, () => parts.venueMarkets()),
    orMissing([], 'price', () => parts.market.spot(now.getTime())),
  ]);
  const spotUsd = spot?.priceUsd ?? fromCents(day.price!.cents);
  const tracked = [...(seen ?? []).map(strikeOfSnapshot), ...(own ?? []).map((entry) => strikeOfVenue(parts.venueName, entry))];
  const at = day.signalAt;
  const probability = model && (({ strikeUsd, expiresAt }: TrackedStrike) => strikeProbability({ day, model, strikeUsd, expiresAt, at }));
  return viewStrikes(nearest(tracked, spotUsd, now), { spotUsd, now, gated: false, probability }).map(nearStrike);
}

function nearest(strikes: TrackedStrike[], spotUsd: number, now: Date): TrackedStrike[] {
  const open = strikes.filter(({ expiresAt }) => expiresAt > now);
  const ladders = Map.groupBy(open, ({ venue, expiresAt }) => `${venue} ${expiresAt.getTime()}`);
  return [...ladders.values()].flatMap((ladder) => nearestTheMoney(ladder, spotUsd, STRIKES_OF_A_LADDER));
}

function nearStrike(view: StrikeView): NearStrike {
  const { venue, marketId, question, strike, expiresAt, bid, ask, yesPrice, bids, asks, modelProbability } = view;
  const { atTheMoney, madeByService, url, observedAt, stale } = view;
  const difference = modelProbability === null || yesPrice === null ? null : Math.round((modelProbability - yesPrice) * 10_000) / 10_000;
  return {
    ...{ venue, marketId, question, strike, expiresAt, bid, ask, yesPrice, bids, asks },
    ...{ modelProbability, difference, atTheMoney, madeByService, url, observedAt, stale },
  };
}
