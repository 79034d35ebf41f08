import { formatDay, parseDay, toDay, toInstantMs } from '../../../src/forecast/day.ts';
import type { Feed } from '../../../src/market/feed.ts';
import type { SeriesId } from '../../../src/market/series.ts';
import type { Answers, HostAnswer, HostRequest } from '../market/provider-host.ts';

const BITVIEW_DAY_ZERO = parseDay('2009-01-01');
const BITVIEW_SERIES: Record<string, SeriesId> = { realized_price: 'realizedPrice', sth_realized_price: 'sthRealizedPrice' };
const BITCOIN_DATA_SERIES: Record<string, [SeriesId, string]> = {
  '/v1/realized-price': ['realizedPrice', 'realizedPrice'],
  '/v1/sth-realized-price': ['sthRealizedPrice', 'sthRealizedPrice'],
};
/** Without a key: how far back, and how late. */
const BITCOIN_DATA_REACH = { days: 1_460, lagDays: 7 };

/** What is said of the chain at an instant. */
export function onchainAnswers(market: Feed, nowMs: number) {
  return {
    bitview: (request) => bitviewSeries(request, market, nowMs),
    'bitcoin-data': (request) => bitcoinDataSeries(request, market, nowMs),
  } satisfies Partial<Record<HostRequest['provider'], Answers>>;
}

/** By index; negative ones count from the end. The last is the running day, whose value still moves. */
async function bitviewSeries({ path, query }: HostRequest, market: Feed, nowMs: number): Promise<HostAnswer | null> {
  const series = BITVIEW_SERIES[/^\/api\/series\/(\w+)\/day1$/.exec(path)?.[1] ?? ''];
  if (series === undefined) return null;
  const { days, values } = await market.observations(series, nowMs);
  const before = Array.from({ length: days[0] - BITVIEW_DAY_ZERO }, () => null);
  const all = [...before, ...values, values.at(-1)! * 1.0001];
  const bound = (name: string, otherwise: number) => {
    const index = query.has(name) ? Number(query.get(name)) : otherwise;
    return Math.max(0, Math.min(all.length, index < 0 ? all.length + index : index));
  };
  const [start, end] = [bound('start', 0), bound('end', all.length)];
  const data = all.slice(start, end);
  return {
    body: {
      index: 'day1',
      type: 'Dollars',
      total: all.length,
      start,
      end: start + data.length,
      stamp: new Date(nowMs).toISOString(),
      data,
    },
  };
}

/** Oldest first, numbers in strings. */
async function bitcoinDataSeries({ path, query }: HostRequest, market: Feed, nowMs: number): Promise<HostAnswer | null> {
  if (BITCOIN_DATA_SERIES[path] === undefined) return null;
  const [series, field] = BITCOIN_DATA_SERIES[path];
  const today = toDay(nowMs);
  const { days, values } = await market.observations(series, nowMs);
  const from = query.has('startday') ? parseDay(query.get('startday')!) : 0;
  const to = query.has('endday') ? parseDay(query.get('endday')!) : today;
  const rows = Array.from(days, (day, index) => ({ day, value: values[index] })).filter(
    ({ day }) => day >= Math.max(from, today - BITCOIN_DATA_REACH.days) && day <= Math.min(to, today - BITCOIN_DATA_REACH.lagDays),
  );
  return { body: rows.map(({ day, value }) => ({ d: formatDay(day), unixTs: String(toInstantMs(day) / 1_000), [field]: String(value) })) };
}
