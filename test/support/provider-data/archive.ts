import type { HostAnswer, HostRequest } from '../market/provider-host.ts';
import { blsCalendar, fomcPage } from './calendars.ts';
import { buildChain } from './option-chain.ts';

const BAR_SECONDS = 300;

/** What the archive's providers answer; a test replaces single ones. */
export const ARCHIVE_ANSWERS = {
  '/api/v2/public/get_volatility_index_data': ({ query }) => {
    const opensAtMs = Number(query.get('start_timestamp'));
    return { body: { jsonrpc: '2.0', result: { data: [[opensAtMs, 40.1, 41.3, 39.8, 40.6]], continuation: null } } };
  },
  '/api/v2/public/get_book_summary_by_currency': ({ nowMs }) => ({ body: { jsonrpc: '2.0', result: buildChain(nowMs) } }),
  '/products/BTC-USD/candles': ({ query }) => {
    const start = Date.parse(query.get('start')!) / 1_000;
    const count = (Date.parse(query.get('end')!) / 1_000 - start) / BAR_SECONDS + 1;
    const rows = Array.from({ length: count }, (_, index) => [start + index * BAR_SECONDS, 99, 101, 100, 100.5, 2.5]);
    return { body: rows.toReversed() };
  },
  '/0/public/OHLC': ({ query, nowMs }) => {
    const since = Number(query.get('since'));
    const count = Math.floor((nowMs / 1_000 - since) / BAR_SECONDS);
    const first = Math.ceil(since / BAR_SECONDS) * BAR_SECONDS;
    const rows = Array.from({ length: count }, (_, index) => [
      first + index * BAR_SECONDS,
      ...['100.0', '101.0', '99.0', '100.5', '100.2', '1.50000000'],
      7,
    ]);
    return { body: { error: [], result: { XXBTZUSD: rows, last: since } } };
  },
  '/monetarypolicy/fomccalendars.htm': () => ({
    body: fomcPage({
      2026: [
        ['March', '17-18*'],
        ['April', '28-29'],
      ],
    }),
  }),
  '/schedule/news_release/bls.ics': () => ({ body: blsCalendar([['20260410T083000', 'Consumer Price Index']]) }),
} satisfies Record<string, (request: HostRequest) => HostAnswer>;

export type ArchivePath = keyof typeof ARCHIVE_ANSWERS;
