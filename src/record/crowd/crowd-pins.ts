import { toDay } from '../../forecast/day.ts';
import { formatWeek, toWeek } from '../../forecast/week.ts';
import { LARGE_READ_BATCH } from '../../platform/mongo.ts';
import { roundTo } from '../../platform/round.ts';
import type { Side } from '../../wager/sizing.ts';
import type { BookDepth, Quote } from '../../wager/venue.ts';
import type { WagerBook, WagerDoc } from '../../wager/wager-book.ts';
import { fromCents } from '../forecast-doc.ts';
import type { ForecastRecord } from '../forecast-record.ts';

/** Price of the strike nearest to the money at signal time, stored once. */
export type CrowdPin = ReturnType<typeof toCrowdPin>;

export type SettledPin = CrowdPin & { winner: Side };

export async function readPins({ wagers, record }: { wagers: WagerBook; record: ForecastRecord }): Promise<CrowdPin[]> {
  const [priced, days] = await Promise.all([
    wagers.listPriced(),
    record.days.find({}, { projection: { day: 1, price: 1 }, hint: { day: 1 }, batchSize: LARGE_READ_BATCH }).toArray(),
  ]);
  const prices = new Map(days.map(({ day, price }) => [day, price]));
  return priced.map((wager) => {
    const price = prices.get(wager.day) ?? null;
    return toCrowdPin(wager, price === null ? null : fromCents(price.cents));
  });
}

/** Requires a wager whose market was priced. */
export function toCrowdPin(
  { day, replayed, venue, market, quote, book, decidedAt, qMarket, pModel, winner }: WagerDoc,
  btcPriceUsd: number | null,
) {
  const { id: marketId, question, strikeUsd, expiresAt } = market!;
  return {
    day,
    replayed,
    venue,
    marketId,
    question,
    strikeUsd,
    expiresAt,
    btcPriceUsd,
    winner,
    // A market on the close of Friday expires at 00:00 UTC of Saturday.
    weekId: formatWeek(toWeek(toDay(expiresAt.getTime() - 1))),
    pinnedAt: quote?.at ?? decidedAt,
    book: quote === null ? null : toPinnedBook(quote, book),
    // P(YES): the market's mid price, and the model's. Rounded as served, so that a client recomputes the same scores.
    pMarket: roundTo(qMarket!, 4),
    pOracle: roundTo(pModel!, 4),
  };
}

/** Order book of YES contracts at signal time. Prices 0 to 1; the fee is a fraction of a contract's payout. */
function toPinnedBook({ bid, ask, fee }: Quote, { bids, asks }: BookDepth = { bids: [], asks: [] }) {
  return { bid, ask, fee, bids, asks };
}

/** The first pin per key. Expects pins oldest first. */
export function selectFirstPins<Pin extends CrowdPin>(pins: readonly Pin[], keyOf: (pin: Pin) => string): Pin[] {
  return [...Map.groupBy(pins, keyOf).values()].map(([first]) => first);
}

export function isSettledPin(pin: CrowdPin): pin is SettledPin {
  return pin.winner !== null;
}

/** Rounds a score, or a mean or bound of scores: squared errors of four-digit probabilities are exact in 8 digits. */
export function roundScore(value: number): number {
  return roundTo(value, 8);
}
