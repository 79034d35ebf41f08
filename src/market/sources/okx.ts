import { z } from 'zod';
import { DAY_MS, toDay, toInstantMs } from '../../forecast/day.ts';
import { createFundingSource } from './derivatives.ts';
import { createHttpSource, epochMsText, numeric, parseAnswer, parseRows, positiveText, requireAccepted } from './source.ts';

const SWAP = 'BTC-USDT-SWAP';
const MAX_ROWS = 100;

const fundingRow = z
  .object({ realizedRate: numeric, fundingTime: epochMsText })
  .transform(({ fundingTime: atMs, realizedRate: rate }) => ({ atMs, rate }));

/** Funding of the BTC-USDT perpetual; OKX retains three months. */
export const okxFunding = createFundingSource({
  provider: 'okx',
  history: { days: 89 },
  pageDays: 33,
  maxRows: MAX_ROWS,
  order: 'newest',
  // OKX pages backwards: `after` selects older rows.
  request: (_startMs, endMs) => ({ path: '/api/v5/public/funding-rate-history', query: { instId: SWAP, after: endMs, limit: MAX_ROWS } }),
  list: (body, title) => ({ rows: parseData(body, title), path: ['data'] }),
  row: fundingRow,
});

// Daily bars open at 00:00 in Hong Kong.
const BAR_OPENS_BEFORE_MS = 8 * 3_600_000;
/** Open time; open interest in contracts, bitcoin and USD. */
const interestRow = z.tuple([epochMsText, numeric, numeric, positiveText], z.unknown());

/** Open interest of the BTC-USDT perpetual. A bar has the value of its end, 16:00 UTC of its date; the running bar is excluded. */
export const okxOpenInterest = createHttpSource({
  provider: 'okx',
  history: { days: 95 },
  pageDays: 96,
  daily: true,
  request: ({ from, to }) => ({
    path: '/api/v5/rubik/stat/contracts/open-interest-history',
    query: {
      instId: SWAP,
      period: '1D',
      begin: toInstantMs(from) - BAR_OPENS_BEFORE_MS - 1,
      end: toInstantMs(to) - BAR_OPENS_BEFORE_MS + 1,
      limit: MAX_ROWS,
    },
  }),
  read: (body, _range, reader, nowMs) =>
    parseRows(interestRow, parseData(body, reader.title), reader, ['data'])
      .filter(([opensAtMs]) => opensAtMs > nowMs || opensAtMs + DAY_MS <= nowMs)
      .map(([opensAtMs, , , usd]) => ({ day: toDay(opensAtMs + DAY_MS), value: usd, providerAtMs: opensAtMs + DAY_MS })),
});

function parseData(body: unknown, title: string): unknown[] {
  requireAccepted(parseAnswer(z.object({ code: z.string() }), body, title).code, '0', title);
  return parseAnswer(z.object({ data: z.array(z.unknown()) }), body, title).data;
}
