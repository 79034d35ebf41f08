import { z } from 'zod';
import { type Day, formatDay, parseDay, toDay } from '../../../forecast/day.ts';
import { OracleError } from '../../../platform/errors.ts';
import type { Provider, ProviderAnswer, ProviderRequest } from '../providers/provider.ts';
import type { DatedValue, DayRange, SeriesSource } from './source.ts';

/** A JSON number; zod rejects infinities. */
export const finite = z.number();
export const positive = finite.positive();
const decimalText = z.string().regex(/^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/, 'is not a decimal number');
export const numeric = decimalText.transform(Number).pipe(finite);
export const positiveText = numeric.pipe(positive);
/** Milliseconds since 1970, as a number or in a string. */
export const epochMs = z.number().int().positive();
export const epochMsText = numeric.pipe(epochMs);

/** Validates a response. @throws OracleError FEED_INVALID naming the provider and the path of the first invalid field */
export function parseAnswer<Schema extends z.ZodType>(schema: Schema, body: unknown, providerTitle: string): z.output<Schema> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue.path.join('.') || 'answer';
  throw invalidAnswer(providerTitle, field, issue.message);
}

export function invalidAnswer(providerTitle: string, field: string, problem: string, cause?: unknown): OracleError {
  return new OracleError('FEED_INVALID', `${providerTitle}: ${field} ${problem}`, { field, cause });
}

/** For providers that reject requests with status 200 and a code. @throws OracleError FEED_UNAVAILABLE */
export function requireAccepted(code: string | number, accepted: string | number, providerTitle: string): void {
  if (code !== accepted) throw new OracleError('FEED_UNAVAILABLE', `${providerTitle}: rejected with code ${code}`);
}

/** Requests and parses within one guarded call, because an unreadable response is a failure of the provider. */
export function fetchParsed<T>(provider: Provider, request: ProviderRequest, parse: (answer: ProviderAnswer) => T): Promise<T> {
  return provider.call(request.path, async () => parse(await provider.request(request)));
}

interface SourceOptions extends Omit<SeriesSource, 'fetch'> {
  /** Every finished day has a value: a response without one for a range of finished days is a failure. */
  daily?: true;
}

/** Values of a response in any order, possibly outside the range, with the time of its reception. */
export interface FetchedValues {
  values: DatedValue[];
  nowMs: number;
}

export function createHttpSource({
  request,
  read,
  ...source
}: SourceOptions & {
  request(range: DayRange): ProviderRequest;
  read(body: unknown, range: DayRange, providerTitle: string, nowMs: number): DatedValue[];
}): SeriesSource {
  return {
    ...source,
    fetch: (provider, range) =>
      fetchParsed(provider, request(range), ({ body, receivedAtMs: nowMs }) => {
        return selectValues({ values: read(body, range, provider.title, nowMs), nowMs }, range, { ...source, title: provider.title });
      }),
  };
}

/** A daily series that takes several requests per page, all within the guarded call `what`. */
export function createCompositeSource({
  what,
  fetchValues,
  ...source
}: SourceOptions & { what: string; fetchValues(provider: Provider, range: DayRange): Promise<FetchedValues> }): SeriesSource {
  return {
    ...source,
    fetch: (provider, range) =>
      provider.call(what, async () => {
        return selectValues(await fetchValues(provider, range), range, { ...source, daily: true, title: provider.title });
      }),
  };
}

function selectValues(
  { values, nowMs }: FetchedValues,
  range: DayRange,
  { daily, history, title }: Pick<SourceOptions, 'daily' | 'history'> & { title: string },
): DatedValue[] {
  const selected = selectWithinRange(values, range, title, nowMs);
  if (daily) requireFinishedDay(selected, range, { history, title, nowMs });
  return selected;
}

type Dated = Pick<DatedValue, 'day' | 'providerAtMs'>;

/** The last value of each day by provider time, within the range. @throws OracleError FEED_INVALID for a value dated after tomorrow */
export function selectWithinRange<Value extends Dated>(
  values: Value[],
  { from, to }: DayRange,
  providerTitle: string,
  nowMs: number,
): Value[] {
  const lastPossible = toDay(nowMs) + 1;
  const byDay = new Map<Day, Value>();
  for (const value of values) {
    if (value.day > lastPossible) {
      throw invalidAnswer(providerTitle, 'date', `${formatDay(value.day)} is in the future`);
    }
    const known = byDay.get(value.day);
    const older = known !== undefined && (value.providerAtMs ?? 0) < (known.providerAtMs ?? 0);
    if (value.day >= from && value.day <= to && !older) byDay.set(value.day, value);
  }
  return [...byDay.values()];
}

/** An empty old page marks the start of a provider's history; an empty recent page is a failure. */
const RECENT_DAYS = 31;

/** @throws OracleError FEED_UNAVAILABLE when the range has recent finished days of the provider's history and none has a value */
export function requireFinishedDay(
  values: readonly Dated[],
  range: DayRange,
  { history, title, nowMs }: { history: SeriesSource['history']; title: string; nowMs: number },
): void {
  const today = toDay(nowMs);
  const from = Math.max(range.from, 'from' in history ? parseDay(history.from) : today - history.days);
  const to = Math.min(range.to, today - 1);
  if (from > to || to < today - RECENT_DAYS || values.some(({ day }) => day >= from && day <= to)) return;
  throw new OracleError('FEED_UNAVAILABLE', `${title}: no value from ${formatDay(from)} to ${formatDay(to)}`);
}
