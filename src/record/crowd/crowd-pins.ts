import { type Day, toDay } from '../../forecast/day.ts';
import { formatWeek, toWeek } from '../../forecast/week.ts';
import { roundTo } from '../../platform/round.ts';
import type { Side } from '../../wager/sizing.ts';
import type { BookDepth, Quote } from '../../wager/venue.ts';
import type { WagerBook, WagerDoc } from '../../wager/wager-book.ts';
import { fromCents } from '../forecast-doc.ts';
import type { ForecastRecord } from '../forecast-record.ts';

/** An order book of YES contracts as it was when the day's forecast was made. Prices 0 to 1. */
export interface PinnedBook extends BookDepth {
  bid: number;
  ask: number;
  /** Fee of one contract, as a fraction of what it pays. */
  fee: number;
}

/** The strike closest to the money as a prediction market priced it when a day's forecast was made: pinned then, never made again. */
export interface CrowdPin {
  day: Day;
  replayed: boolean;
  venue: string;
  marketId: string;
  question: string;
  strikeUsd: number;
  expiresAt: Date;
  /** ISO week of the expiry. */
  weekId: string;
  pinnedAt: Date;
  /** BTC/USD at signal time; null where the day is not in the record. */
  btcPriceUsd: number | null;
  /** Prices of YES and what stood behind them at that moment; null where only their middle is known. */
  book: PinnedBook | null;
  /** Probability of YES, 0 to 1, four digits: the middle of the market's bid and ask, and the model's. */
  pMarket: number;
  pOracle: number;
  /** null until the market is settled. */
  winner: Side | null;
}

/** A pin whose market is settled. */
export type SettledPin = CrowdPin & { winner: Side };

/** All pins, oldest first. */
export async function readPins({ wagers, record }: { wagers: WagerBook; record: ForecastRecord }): Promise<CrowdPin[]> {
  const [priced, days] = await Promise.all([
    wagers.listPriced(),
    record.days.find({}, { projection: { day: 1, price: 1 }, hint: { day: 1 } }).toArray(),
  ]);
  const prices = new Map(days.map(({ day, price }) => [day, price]));
  return priced.map((wager) => {
    const price = prices.get(wager.day) ?? null;
    return toCrowdPin(wager, price === null ? null : fromCents(price.cents));
  });
}

/** The pin of a wager whose market was priced. */
export function toCrowdPin(
  { day, replayed, venue, market, quote, book, decidedAt, qMarket, pModel, winner }: WagerDoc,
  btcPriceUsd: number | null,
): CrowdPin {
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
    // A market of a Friday's close expires with the first instant of the Saturday.
    weekId: formatWeek(toWeek(toDay(expiresAt.getTime() - 1))),
    pinnedAt: quote?.at ?? decidedAt,
    book: quote === null ? null : toPinnedBook(quote, book),
    // Rounded as served, so that a client recomputes the same scores.
    pMarket: roundTo(qMarket!, 4),
    pOracle: roundTo(pModel!, 4),
  };
}

function toPinnedBook({ bid, ask, fee }: Quote, { bids, asks }: BookDepth = { bids: [], asks: [] }): PinnedBook {
  return { bid, ask, fee, bids, asks };
}

/** The first pin of every one of `keyOf`: what was said earliest stands for it. Expects pins oldest first. */
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
