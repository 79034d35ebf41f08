import { z } from 'zod';
import { finite } from '../../live/sources/http-source.ts';
import type { MaskedValue } from '../archive-series.ts';

const SUMMARY = z.object({
  instrument_name: z.string().max(60),
  mark_iv: finite.nullish(),
  underlying_price: finite.nullish(),
  bid_price: finite.nullish(),
  ask_price: finite.nullish(),
  creation_timestamp: finite.nullish(),
});

/** Of public/get_book_summary_by_currency with `kind=option`. */
export const BOOK_SUMMARIES = z.object({ result: z.array(SUMMARY) });

type BookSummary = z.output<typeof SUMMARY>;

export interface OptionQuote {
  expiresAtMs: number;
  strike: number;
  type: 'C' | 'P';
  /** Implied volatility a year, a fraction. */
  vol: number;
  /** Price of the future of the expiry. */
  underlying: number;
}

export interface OptionChain {
  quotes: OptionQuote[];
  masked: MaskedValue[];
  /** Newest time of a summary (ms); null without one. */
  quotedAtMs: number | null;
}

/** A vol of more than 500 % is no quote of a liquid option. */
const MAX_VOL_PERCENT = 500;
const MAX_AGE_MS = 10 * 60_000;
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const INSTRUMENT = /^BTC-(\d{1,2})([A-Z]{3})(\d{2})-(\d{1,9}(?:d\d+)?)-([CP])$/;
const EXPIRY_HOUR = 8;

/** Quotes that can be used; each other one is masked with its reason. A strike that is listed twice is masked in whole. */
export function readChain(summaries: readonly BookSummary[], receivedAtMs: number): OptionChain {
  const masked: MaskedValue[] = [];
  const byInstrument = Map.groupBy(summaries, ({ instrument_name: name }) => name);
  const quotes: OptionQuote[] = [];
  for (const [what, [summary, ...others]] of byInstrument) {
    const quote = toQuote(summary);
    const reason =
      others.length > 0 ? 'is listed twice' : quote === null ? 'has an unreadable name or no vol' : findFault(summary, receivedAtMs);
    if (reason !== null) masked.push({ what, reason });
    else quotes.push(quote as OptionQuote);
  }
  const times = summaries.flatMap(({ creation_timestamp: at }) => at ?? []).filter((at) => at <= receivedAtMs + MAX_AGE_MS);
  return { quotes, masked, quotedAtMs: times.length === 0 ? null : Math.max(...times) };
}

function toQuote({ instrument_name: name, mark_iv: vol, underlying_price: underlying }: BookSummary): OptionQuote | null {
  const [, day, month, year, strike, type] = INSTRUMENT.exec(name) ?? [];
  const monthIndex = MONTHS.indexOf(month);
  if (monthIndex === -1 || vol == null || underlying == null) return null;
  return {
    expiresAtMs: Date.UTC(2000 + Number(year), monthIndex, Number(day), EXPIRY_HOUR),
    strike: Number(strike.replace('d', '.')),
    type: type as 'C' | 'P',
    vol: vol / 100,
    underlying,
  };
}

function findFault(summary: BookSummary, receivedAtMs: number): string | null {
  const { mark_iv: vol = 0, underlying_price: underlying = 0, bid_price: bid, ask_price: ask, creation_timestamp: at } = summary;
  if (!(Number(vol) > 0 && Number(vol) <= MAX_VOL_PERCENT)) return `vol is not within 0 and ${MAX_VOL_PERCENT} %`;
  if (!(Number(underlying) > 0)) return 'underlying price is not positive';
  if (bid != null && ask != null && bid > ask) return 'bid is above ask';
  if (at != null && Math.abs(receivedAtMs - at) > MAX_AGE_MS) return 'timestamp is more than ten minutes away';
  return null;
}
