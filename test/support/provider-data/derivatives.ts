import { DAY_MS, type Day, HOUR_MS, toDay, toInstantMs } from '../../../src/forecast/day.ts';
import type { Feed } from '../../../src/market/feed.ts';
import type { SeriesId } from '../../../src/market/series.ts';
import type { Answers, HostRequest } from '../market/provider-host.ts';

interface Dated {
  day: Day;
  value: number;
}

/** What the exchanges that trade bitcoin derivatives say of a market at an instant. */
export function derivativesAnswers(market: Feed, nowMs: number) {
  return {
    okx: (request) => okxAnswer(request, market, nowMs),
    deribit: (request) => deribitAnswer(request, market, nowMs),
    bybit: (request) => bybitAnswer(request, market, nowMs),
    'binance-futures': (request) => binanceFuturesAnswer(request, market, nowMs),
  } satisfies Partial<Record<HostRequest['provider'], Answers>>;
}

async function okxAnswer({ path, query }: HostRequest, market: Feed, nowMs: number) {
  if (query.get('instId') !== 'BTC-USDT-SWAP') return { body: { code: '51001', msg: 'Instrument ID does not exist', data: [] } };
  const limit = Math.min(100, Number(query.get('limit') ?? 100));
  if (path === '/api/v5/public/funding-rate-history') {
    const [newerThan, olderThan] = [numberOf(query, 'before', 0), numberOf(query, 'after', Number.POSITIVE_INFINITY)];
    const kept = (await fundings(market, nowMs)).filter(({ atMs }) => atMs > nowMs - 92 * DAY_MS);
    const rows = kept.filter(({ atMs }) => atMs > newerThan && atMs < olderThan).reverse();
    const data = rows.slice(0, limit).map(({ atMs, rate }) => ({
      ...{ instType: 'SWAP', instId: 'BTC-USDT-SWAP', formulaType: 'withRate', method: 'current_period' },
      ...{ fundingRate: rate, realizedRate: rate, fundingTime: String(atMs) },
    }));
    return { body: { code: '0', msg: '', data } };
  }
  if (path !== '/api/v5/rubik/stat/contracts/open-interest-history' || query.get('period') !== '1D') return null;
  const [begin, end] = [numberOf(query, 'begin', 0), numberOf(query, 'end', Number.POSITIVE_INFINITY)];
  const priceUsd = (await market.spot(nowMs)).priceUsd;
  // Days begin at 16:00 UTC, and the running one is listed too.
  const bars = (await withToday('openInterest', market, nowMs + 8 * HOUR_MS)).map(({ day, value }) => ({
    atMs: toInstantMs(day) - 8 * HOUR_MS,
    value,
  }));
  const rows = bars.slice(-100).filter(({ atMs }) => atMs > begin && atMs < end);
  const data = rows.reverse().slice(0, limit);
  return {
    body: {
      code: '0',
      msg: '',
      data: data.map(({ atMs, value }) => [atMs, (value / priceUsd) * 100, value / priceUsd, value].map(String)),
    },
  };
}

async function deribitAnswer({ path, query }: HostRequest, market: Feed, nowMs: number) {
  const answer = (result: unknown) => ({
    body: { jsonrpc: '2.0', result, usIn: nowMs * 1000, usOut: nowMs * 1000 + 800, usDiff: 800, testnet: false },
  });
  if (path === '/api/v2/public/ticker' && query.get('instrument_name') === 'BTC-PERPETUAL') {
    const { markUsd, indexUsd } = await perpetual(market, nowMs);
    const prices = {
      mark_price: markUsd,
      index_price: indexUsd,
      last_price: markUsd,
      best_bid_price: markUsd - 0.5,
      best_ask_price: markUsd + 0.5,
    };
    return answer({ instrument_name: 'BTC-PERPETUAL', state: 'open', timestamp: nowMs, open_interest: 1_000_000_000, ...prices });
  }
  if (path !== '/api/v2/public/get_volatility_index_data' || query.get('currency') !== 'BTC' || query.get('resolution') !== '1D')
    return null;
  const [start, end] = [numberOf(query, 'start_timestamp', 0), numberOf(query, 'end_timestamp', nowMs)];
  const found = (await withToday('dvol', market, nowMs)).filter(({ day }) => toInstantMs(day) >= start && toInstantMs(day) <= end);
  const rows = found.slice(-1000);
  const continuation = rows.length < found.length ? toInstantMs(rows[0].day) - 1 : null;
  return answer({ data: rows.map(({ day, value }) => [toInstantMs(day), value, value + 1, value - 1, value]), continuation });
}

/** Newest first, everything a string. */
async function bybitAnswer({ path, query }: HostRequest, market: Feed, nowMs: number) {
  const answer = (result: object) => ({ body: { retCode: 0, retMsg: 'OK', result, retExtInfo: {}, time: nowMs } });
  if (query.get('category') !== 'linear' || query.get('symbol') !== 'BTCUSDT') {
    return { body: { retCode: 10001, retMsg: 'params error: symbol invalid', result: {}, retExtInfo: {}, time: nowMs } };
  }
  const newest = <T extends { atMs: number }>(rows: T[], start: string, end: string, most: number) => {
    const [from, to] = [numberOf(query, start, 0), numberOf(query, end, nowMs)];
    const limit = Math.min(most, numberOf(query, 'limit', 50));
    return rows
      .filter(({ atMs }) => atMs >= from && atMs <= to)
      .reverse()
      .slice(0, limit);
  };
  if (path === '/v5/market/funding/history') {
    const list = newest(await fundings(market, nowMs), 'startTime', 'endTime', 200);
    const published = list.map(({ atMs, rate }) => ({ symbol: 'BTCUSDT', fundingRate: rate, fundingRateTimestamp: String(atMs) }));
    return answer({ category: 'linear', list: published });
  }
  if (path === '/v5/market/open-interest' && query.get('intervalTime') === '4h') {
    const list = newest(await fourHourly(market, nowMs), 'startTime', 'endTime', 200);
    const published = list.map(({ atMs, interestUsd, priceUsd }) => ({
      openInterest: (interestUsd / priceUsd).toFixed(8),
      timestamp: String(atMs),
    }));
    return answer({ symbol: 'BTCUSDT', category: 'linear', list: published, nextPageCursor: '' });
  }
  if (path === '/v5/market/kline' && query.get('interval') === '240') {
    const list = newest(await fourHourly(market, nowMs), 'start', 'end', 1000);
    const published = list.map(({ atMs, priceUsd }) =>
      [atMs, priceUsd, priceUsd + 1, priceUsd - 1, priceUsd, 1000, 1000 * priceUsd].map(String),
    );
    return answer({ symbol: 'BTCUSDT', category: 'linear', list: published });
  }
  if (path !== '/v5/market/tickers') return null;
  const { markUsd, indexUsd } = await perpetual(market, nowMs);
  const ticker = {
    symbol: 'BTCUSDT',
    lastPrice: String(markUsd),
    markPrice: String(markUsd),
    indexPrice: String(indexUsd),
    openInterest: '50000',
  };
  return answer({ category: 'linear', list: [ticker] });
}

async function binanceFuturesAnswer({ path, query }: HostRequest, market: Feed, nowMs: number) {
  if (query.get('symbol') !== 'BTCUSDT') return { status: 400, body: { code: -1121, msg: 'Invalid symbol.' } };
  const [start, end] = [numberOf(query, 'startTime', 0), numberOf(query, 'endTime', nowMs)];
  if (path === '/fapi/v1/fundingRate') {
    const rows = (await fundings(market, nowMs)).filter(({ atMs }) => atMs >= start && atMs <= end);
    const published = rows.slice(0, Math.min(1000, numberOf(query, 'limit', 100)));
    return { body: published.map(({ atMs, rate }) => ({ symbol: 'BTCUSDT', fundingTime: atMs, fundingRate: rate, markPrice: '' })) };
  }
  if (path !== '/futures/data/openInterestHist' || query.get('period') !== '4h') return null;
  if (start > 0 && start < nowMs - 30 * DAY_MS) return { status: 400, body: { code: -1130, msg: "parameter 'startTime' is invalid." } };
  const rows = (await fourHourly(market, nowMs)).filter(({ atMs }) => atMs >= start && atMs <= end);
  const published = rows.slice(-Math.min(500, numberOf(query, 'limit', 30)));
  return {
    body: published.map(({ atMs, interestUsd, priceUsd }) => ({
      ...{ symbol: 'BTCUSDT', sumOpenInterest: (interestUsd / priceUsd).toFixed(8), sumOpenInterestValue: interestUsd.toFixed(8) },
      ...{ CMCCirculatingSupply: '19900000.00000000', timestamp: atMs },
    })),
  };
}

/** Three a day, whose mean is the day's rate of the market. */
async function fundings(market: Feed, nowMs: number): Promise<{ atMs: number; rate: string }[]> {
  const days = await withToday('fundingRate', market, nowMs);
  const all = days.flatMap(({ day, value }) =>
    [-1, 0, 1].map((step, index) => ({ atMs: toInstantMs(day, 8 * index), rate: (value + step * 0.00001).toFixed(10) })),
  );
  return all.filter(({ atMs }) => atMs <= nowMs);
}

/** Of the market's last 400 days; the day's last count is its open interest. */
async function fourHourly(market: Feed, nowMs: number): Promise<{ atMs: number; interestUsd: number; priceUsd: number }[]> {
  const closes = new Map((await withToday('btcClose', market, nowMs)).map(({ day, value }) => [day, value]));
  const days = (await withToday('openInterest', market, nowMs)).slice(-400);
  const all = days.flatMap(({ day, value }) =>
    [0, 4, 8, 12, 16, 20].map((hour) => ({
      atMs: toInstantMs(day, hour),
      interestUsd: value * (0.98 + 0.001 * hour),
      priceUsd: closes.get(day)! + hour,
    })),
  );
  return all.filter(({ atMs }) => atMs <= nowMs);
}

async function perpetual(market: Feed, nowMs: number): Promise<{ markUsd: number; indexUsd: number }> {
  const basis = (await market.observations('perpBasis', nowMs)).values.at(-1) ?? 0;
  const indexUsd = (await market.spot(nowMs)).priceUsd;
  return { indexUsd, markUsd: Number((indexUsd * (1 + basis)).toFixed(2)) };
}

/** A series as known, its last value repeated up to the running day. */
async function withToday(series: SeriesId, market: Feed, nowMs: number): Promise<Dated[]> {
  const { days, values } = await market.observations(series, nowMs);
  const known = Array.from(days, (day, index) => ({ day, value: values[index] }));
  const last = known.at(-1);
  if (last === undefined) return [];
  const missing = Array.from({ length: Math.max(0, toDay(nowMs) - last.day) }, (_, index) => ({
    day: last.day + 1 + index,
    value: last.value,
  }));
  return [...known, ...missing];
}

function numberOf(query: URLSearchParams, name: string, otherwise: number): number {
  return query.has(name) ? Number(query.get(name)) : otherwise;
}
