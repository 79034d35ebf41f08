import { DAY_MS, type Day, formatDay, parseDay, toDay, toInstantMs } from '../../../src/forecast/day.ts';
import type { Feed } from '../../../src/market/feed.ts';
import { isTradingDay, isUsExchangeDay, type SeriesId } from '../../../src/market/series.ts';
import type { Answers, HostAnswer, HostRequest } from '../market/provider-host.ts';

/** What is said of stocks, currencies, metals, rates and the economy at an instant. */
export function macroAnswers(market: Feed, nowMs: number) {
  return {
    yahoo: (request) => yahooChart(request, market, nowMs),
    fred: (request) => fredGraph(request, market, nowMs),
    dbnomics: (request) => dbnomicsSeries(request, market, nowMs),
  } satisfies Partial<Record<HostRequest['provider'], Answers>>;
}

interface Symbol {
  series: SeriesId;
  zone: string;
  /** Minutes of the day in New York at which the session begins and ends. */
  opens: number;
  closes: number;
  isOpen: (day: Day) => boolean;
  /** Bars without values of Sunday evenings. */
  sundays?: true;
}

const NEW_YORK = 'America/New_York';
const ALL_DAY = { zone: NEW_YORK, opens: 0, closes: 24 * 60 - 1, isOpen: isTradingDay };
const SYMBOLS: Record<string, Symbol> = {
  'DX-Y.NYB': { series: 'dxy', ...ALL_DAY, sundays: true },
  'GC=F': { series: 'gold', ...ALL_DAY },
  '^GSPC': { series: 'sp500', zone: NEW_YORK, opens: 570, closes: 960, isOpen: isUsExchangeDay },
  '^VIX': { series: 'vix', zone: 'America/Chicago', opens: 195, closes: 975, isOpen: isUsExchangeDay },
  '^TNX': { series: 'us10y', zone: 'America/Chicago', opens: 500, closes: 900, isOpen: isUsExchangeDay },
};

interface Bar {
  opensMs: number;
  closesMs: number;
  close: number | null;
}

async function yahooChart({ path, query }: HostRequest, market: Feed, nowMs: number): Promise<HostAnswer | null> {
  const name = decodeURIComponent(/^\/v8\/finance\/chart\/([^/]+)$/.exec(path)?.[1] ?? '');
  const symbol = SYMBOLS[name];
  if (symbol === undefined) {
    const error = { code: 'Not Found', description: 'No data found, symbol may be delisted' };
    return { status: 404, body: { chart: { result: null, error } } };
  }
  const all = await bars(symbol, market, nowMs);
  const published = all.filter(
    ({ opensMs }) => opensMs >= Number(query.get('period1')) * 1_000 && opensMs < Number(query.get('period2')) * 1_000,
  );
  const closes = published.map(({ close }) => close);
  const data =
    published.length === 0
      ? { indicators: { quote: [{}], adjclose: [{}] } }
      : {
          timestamp: published.map(({ opensMs }) => opensMs / 1_000),
          indicators: {
            quote: [{ open: closes, high: closes, low: closes, close: closes, volume: closes.map(() => 0) }],
            adjclose: [{ adjclose: closes }],
          },
        };
  return { body: { chart: { result: [{ meta: chartMeta(name, symbol, all.at(-1)!, nowMs), ...data }], error: null } } };
}

function chartMeta(name: string, { zone }: Symbol, last: Bar, nowMs: number) {
  const offset = (newYorkOffsetMs(toDay(nowMs)) - (zone === NEW_YORK ? 0 : 3_600_000)) / 1_000;
  const period = (start: number, end: number) => ({ timezone: 'EST', start: start / 1_000, end: end / 1_000, gmtoffset: offset });
  return {
    ...{ currency: 'USD', symbol: name, instrumentType: 'INDEX', firstTradeDate: 31_813_200, hasPrePostMarketData: false },
    ...{ gmtoffset: offset, timezone: 'EST', exchangeTimezoneName: zone, dataGranularity: '1d', range: '' },
    regularMarketTime: Math.floor(Math.min(nowMs, last.closesMs) / 1_000),
    regularMarketPrice: last.close,
    currentTradingPeriod: {
      pre: period(last.opensMs, last.opensMs),
      regular: period(last.opensMs, last.closesMs),
      post: period(last.closesMs, last.closesMs),
    },
  };
}

/** Everything up to the running session, whose close still moves. */
async function bars({ series, opens, closes, isOpen, sundays }: Symbol, market: Feed, nowMs: number): Promise<Bar[]> {
  const { days, values } = await market.observations(series, toInstantMs(toDay(nowMs) + 1));
  const published: Bar[] = [];
  for (let day = days[0], index = 0; day <= toDay(nowMs); day++) {
    const midnightMs = toInstantMs(day) - newYorkOffsetMs(day);
    const session = { opensMs: midnightMs + opens * 60_000, closesMs: midnightMs + closes * 60_000 };
    if (session.opensMs > nowMs) break;
    if (sundays && new Date(toInstantMs(day)).getUTCDay() === 0) published.push({ ...session, close: null });
    if (!isOpen(day)) continue;
    const close = Math.fround(values[index++]);
    published.push({ ...session, close: nowMs < session.closesMs ? Math.fround(close * 1.002) : close });
  }
  return published;
}

const offsetName = new Intl.DateTimeFormat('en-US', { timeZone: NEW_YORK, timeZoneName: 'longOffset' });

/** Asking for the name takes most of the time of an answer. */
const offsetsMs = new Map<Day, number>();

function newYorkOffsetMs(day: Day): number {
  const known = offsetsMs.get(day) ?? namedOffsetMs(day);
  offsetsMs.set(day, known);
  return known;
}

function namedOffsetMs(day: Day): number {
  const [, hours] = /GMT([+-]\d\d)/.exec(offsetName.format(toInstantMs(day, 12))) ?? [];
  return Number(hours) * 3_600_000;
}

const FRED_SERIES: Record<string, { series: SeriesId; everyDay?: true; days?: number }> = {
  SP500: { series: 'sp500', days: 3_652 },
  VIXCLS: { series: 'vix' },
  DGS10: { series: 'us10y' },
  DGS2: { series: 'us2y' },
  DFF: { series: 'fedFunds', everyDay: true },
  DFEDTARU: { series: 'policyRate', everyDay: true },
};

/** Two decimals; holidays are empty. */
async function fredGraph({ path, query }: HostRequest, market: Feed, nowMs: number): Promise<HostAnswer | null> {
  const id = query.get('id') ?? '';
  if (path !== '/graph/fredgraph.csv' || FRED_SERIES[id] === undefined) return null;
  const { series, everyDay, days: reach } = FRED_SERIES[id];
  const { days, values } = await market.observations(series, nowMs);
  const known = new Map(Array.from(days, (day, index) => [day, values[index]]));
  const earliest = reach === undefined ? days[0] : toDay(nowMs) - reach;
  const from = Math.max(earliest, query.has('cosd') ? parseDay(query.get('cosd')!) : earliest);
  const to = Math.min(days.at(-1)!, query.has('coed') ? parseDay(query.get('coed')!) : days.at(-1)!);
  const lines = [`observation_date,${id}`];
  for (let day = from; day <= to; day++) {
    const isWeekday = ![0, 6].includes(new Date(toInstantMs(day)).getUTCDay());
    if (everyDay || isWeekday) lines.push(`${formatDay(day)},${known.get(day)?.toFixed(2) ?? ''}`);
  }
  return { body: `${lines.join('\n')}\n` };
}

/** By the month that a figure is about, from 2020-05 on; the running month has none. */
async function dbnomicsSeries({ path, query }: HostRequest, market: Feed, nowMs: number): Promise<HostAnswer | null> {
  if (path !== '/v22/series/ISM/pmi/pm') return null;
  const { days, values } = await market.observations('pmi', nowMs);
  const figures = Array.from(days, (day, index) => ({ month: monthBefore(day), value: values[index] as number | 'NA' }));
  const shown = [...figures, { month: formatDay(toDay(nowMs)).slice(0, 7), value: 'NA' as const }].filter(
    ({ month }) => month >= '2020-05',
  );
  const doc = {
    ...{ '@frequency': 'monthly', provider_code: 'ISM', dataset_code: 'pmi', series_code: 'pm', series_name: 'PMI - PMI' },
    period: shown.map(({ month }) => month),
    period_start_day: shown.map(({ month }) => `${month}-01`),
    value: shown.map(({ value }) => value),
  };
  const docs = [query.get('observations') === '1' ? doc : { ...doc, period: undefined, value: undefined }];
  return { body: { _meta: { version: '22.1' }, series: { docs, limit: 1000, num_found: 1, offset: 0 } } };
}

/** The simulated market has every figure of the PMI on the first exchange day of a month, ISM the first of a year on the second. */
export function toReleaseDay(day: Day): Day {
  if (new Date(toInstantMs(day)).getUTCMonth() !== 0) return day;
  let release = day + 1;
  while (!isUsExchangeDay(release)) release++;
  return release;
}

/** Figures are released in the first days of the month after theirs. */
function monthBefore(release: Day): string {
  return new Date(release * DAY_MS - 15 * DAY_MS).toISOString().slice(0, 7);
}
