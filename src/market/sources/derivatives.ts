import type { z } from 'zod';
import { OracleError } from '../../errors.ts';
import { DAY_MS, type Day, HOUR_MS, toDay, toInstantMs } from '../../forecast/day.ts';
import type { Provider, ProviderRequest } from '../live/provider.ts';
import { createCompositeSource, type DatedValue, type DayRange, type FetchedValues, parseRows, type SeriesSource } from './source.ts';

/** Rates are per 8 h, the longest interval that an exchange uses. */
const MAX_INTERVAL_MS = 8 * HOUR_MS;
const MAX_INTERVALS_PER_DAY = DAY_MS / HOUR_MS;
/** Exchanges date a payment up to some milliseconds after its instant. */
const CLOCK_MS = 60_000;

interface Funding {
  atMs: number;
  rate: number;
}

interface FundingOptions extends Pick<SeriesSource, 'provider' | 'history' | 'pageDays'> {
  /** A response has at most this many payments, of a longer range the newest or the oldest. */
  maxRows: number;
  order: 'newest' | 'oldest';
  /** Payments from `startMs` to before `endMs`. */
  request(startMs: number, endMs: number): ProviderRequest;
  /** The payments in a response, and where they are in it. */
  list(body: unknown, title: string): { rows: readonly unknown[]; path: readonly string[] };
  row: z.ZodType<Funding>;
}

/** Daily funding of a perpetual. A range takes as many requests as its intervals need, within one guarded call. */
export function createFundingSource({ maxRows, order, request, list, row, ...source }: FundingOptions): SeriesSource {
  const fetchPage = async (provider: Provider, startMs: number, endMs: number) => {
    const { body, receivedAtMs: nowMs } = await provider.request(request(startMs, endMs));
    const { rows, path } = list(body, provider.title);
    return { payments: parseRows(row, rows, provider, path), isFull: rows.length >= maxRows, nowMs };
  };
  return createCompositeSource({
    ...source,
    what: 'funding',
    async fetchValues(provider, range: DayRange): Promise<FetchedValues> {
      let [startMs, endMs] = [toInstantMs(range.from), toInstantMs(range.to + 1)];
      const all: Funding[] = [];
      const maxPages = Math.ceil(((range.to - range.from + 1) * MAX_INTERVALS_PER_DAY) / maxRows) + 1;
      for (let page = 1; ; page++) {
        const { payments, isFull, nowMs } = await fetchPage(provider, startMs, endMs);
        all.push(...payments);
        // A payment with a wrong time must not end the range.
        const times = payments.map(({ atMs }) => atMs).filter((atMs) => atMs >= startMs && atMs < endMs);
        if (order === 'newest') endMs = Math.min(endMs, ...times);
        else startMs = Math.max(startMs, ...times.map((atMs) => atMs + 1));
        const isWhole = !isFull || times.length === 0 || endMs <= startMs + CLOCK_MS;
        if (isWhole || page >= maxPages) return { values: computeDailyFunding(all, nowMs), nowMs };
      }
    },
  });
}

/**
 * Daily funding as a fraction per 8 h: the sum of a day's payments, divided by three. A day counts when the payments of all its intervals
 * are there; their length is read from the data. Future days are kept, so that validation rejects them.
 */
export function computeDailyFunding(fundings: readonly Funding[], nowMs: number): { day: Day; value: number; providerAtMs: number }[] {
  const byTime = new Map(fundings.map(({ atMs, rate }) => [Math.round(atMs / CLOCK_MS) * CLOCK_MS, { atMs, rate }]));
  const times = [...byTime.keys()].sort((a, b) => a - b);
  const today = toDay(nowMs);
  return [...new Set(times.map(toDay))]
    .filter((day) => day > today + 1 || (day < today && isComplete(day, times)))
    .map((day) => {
      const payments = times.filter((timeMs) => toDay(timeMs) === day).map((timeMs) => byTime.get(timeMs)!);
      const total = payments.reduce((sum, { rate }) => sum + rate, 0);
      return { day, value: total / (DAY_MS / MAX_INTERVAL_MS), providerAtMs: Math.max(...payments.map(({ atMs }) => atMs)) };
    });
}

/**
 * Whether no payment of a day is missing. Every interval divides the day, so that payments fall on both its ends. Between them all gaps are
 * the same, or change once from the last gap of the day before to the first of the day after.
 */
function isComplete(day: Day, times: readonly number[]): boolean {
  const [startMs, endMs] = [toInstantMs(day), toInstantMs(day + 1)];
  const known = times.includes(endMs) ? times : [...times, endMs].sort((a, b) => a - b);
  const [first, last] = [known.indexOf(startMs), known.indexOf(endMs)];
  if (first < 0) return false;
  const gaps = known.slice(1).map((timeMs, index) => timeMs - known[index]);
  const within = gaps.slice(first, last);
  if (within.some((gapMs) => gapMs > MAX_INTERVAL_MS)) return false;
  const changesAt = within.findIndex((gapMs) => gapMs !== within[0]);
  if (changesAt < 0) return true;
  const changesOnce = within.slice(changesAt).every((gapMs) => gapMs === within[changesAt]);
  return changesOnce && gaps[first - 1] === within[0] && gaps[last] === within[changesAt];
}

const MAX_PRICE_AGE_MS = 3_600_000;

/** Current basis: mark price over index price minus one. @throws OracleError FEED_UNAVAILABLE for prices older than an hour */
export function computeCurrentBasis(
  { markUsd, indexUsd, atMs }: Record<'markUsd' | 'indexUsd' | 'atMs', number>,
  title: string,
  nowMs: number,
): DatedValue[] {
  if (nowMs - atMs > MAX_PRICE_AGE_MS) {
    throw new OracleError('FEED_UNAVAILABLE', `${title}: its latest prices are of ${new Date(atMs).toISOString()}`);
  }
  return [{ day: toDay(atMs), value: markUsd / indexUsd - 1, providerAtMs: atMs }];
}
