import { z } from 'zod';
import { type Day, formatDay, parseDay, toDay } from '../../../forecast/day.ts';
import { OracleError } from '../../../platform/errors.ts';
import type { ProviderRequest } from '../providers/provider.ts';
import type { ProviderId } from '../providers/providers.ts';
import type { DatedValue, DayRange, SeriesSource } from './source.ts';

/** A number as JSON tells it; infinities are refused. */
export const finite = z.number();

/** A decimal number told as a string. */
export const numeric = z
  .string()
  .regex(/^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/, 'is no decimal number')
  .transform(Number)
  .pipe(finite);

/** Milliseconds since 1970, told as a number or as a string. */
export const epochMs = z.number().int().positive();
export const epochMsText = numeric.pipe(epochMs);

/**
 * Checks an answer of a provider against the shape it should have.
 * @throws OracleError FEED_INVALID naming the provider and the path of the first wrong field
 */
export function parseAnswer<Schema extends z.ZodType>(schema: Schema, body: unknown, providerTitle: string): z.output<Schema> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue.path.join('.') || 'answer';
  throw new OracleError('FEED_INVALID', `${providerTitle}: ${field} ${issue.message}`, { field });
}

interface HttpSourceOptions {
  provider: ProviderId;
  history: SeriesSource['history'];
  pageDays: number;
  /** Every finished day has a value: an answer without one of a finished day of the range is none. */
  daily?: true;
  request(range: DayRange): ProviderRequest;
  /** Values of the answer, in any order; those outside the range may be among them. `nowMs` is when the answer arrived. */
  read(body: unknown, range: DayRange, providerTitle: string, nowMs: number): DatedValue[];
}

/** A series that one HTTP request answers: what to ask, and how to read the answer. */
export function createHttpSource({ provider: id, history, pageDays, daily, request, read }: HttpSourceOptions): SeriesSource {
  return {
    provider: id,
    history,
    pageDays,
    fetch(provider, range) {
      const { title } = provider;
      const providerRequest = request(range);
      // An answer that cannot be read is a failure of the provider, too.
      return provider.call(providerRequest.path, async () => {
        const { body, receivedAtMs } = await provider.request(providerRequest);
        const values = selectWithinRange(read(body, range, title, receivedAtMs), range, title, receivedAtMs);
        if (daily) requireFinishedDay(values, range, { history, title, nowMs: receivedAtMs });
        return values;
      });
    },
  };
}

/**
 * The values dated within the range, each day once: the one that its provider made last, or told last, is kept.
 * @throws OracleError FEED_INVALID for a value dated after tomorrow
 */
export function selectWithinRange(values: DatedValue[], { from, to }: DayRange, providerTitle: string, nowMs: number): DatedValue[] {
  const lastPossible = toDay(nowMs) + 1;
  const byDay = new Map<Day, DatedValue>();
  for (const value of values) {
    if (value.day > lastPossible) {
      throw new OracleError('FEED_INVALID', `${providerTitle}: date ${formatDay(value.day)} is in the future`, { field: 'date' });
    }
    const known = byDay.get(value.day);
    const older = known !== undefined && (value.providerAtMs ?? 0) < (known.providerAtMs ?? 0);
    if (value.day >= from && value.day <= to && !older) byDay.set(value.day, value);
  }
  return [...byDay.values()];
}

/** An old piece without a value says where a provider's history begins, a recent one that something is wrong. */
const RECENT_DAYS = 31;

/**
 * For what has a value every day, asked about recent days.
 * @throws OracleError FEED_UNAVAILABLE when the range holds finished days of the provider's history, and none has a value
 */
export function requireFinishedDay(
  values: DatedValue[],
  range: DayRange,
  { history, title, nowMs }: { history: SeriesSource['history']; title: string; nowMs: number },
): void {
  const today = toDay(nowMs);
  const from = Math.max(range.from, 'from' in history ? parseDay(history.from) : today - history.days);
  const to = Math.min(range.to, today - 1);
  if (from > to || to < today - RECENT_DAYS || values.some(({ day }) => day >= from && day <= to)) return;
  throw new OracleError('FEED_UNAVAILABLE', `${title}: no value from ${formatDay(from)} to ${formatDay(to)}`);
}
