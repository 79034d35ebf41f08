import { z } from 'zod';
import { DAY_MS, toDay, toInstantMs } from '../../../../forecast/day.ts';
import { createHttpSource, epochMsText, numeric, parseAnswer, positiveText, requireAccepted } from '../http-source.ts';
import { computeDailyFunding } from './daily-funding.ts';

const SWAP = 'BTC-USDT-SWAP';
const MAX_ROWS = 100;

const fundingRow = z
  .object({ realizedRate: numeric, fundingTime: epochMsText })
  .transform(({ fundingTime: atMs, realizedRate: rate }) => ({ atMs, rate }));

/** Funding of the BTC-USDT perpetual; OKX retains three months. */
export const okxFunding = createHttpSource({
  provider: 'okx',
  history: { days: 89 },
  // Three fundings a day.
  pageDays: 33,
  daily: true,
  // OKX pages backwards: `after` selects older rows.
  request: ({ to }) => ({
    path: '/api/v5/public/funding-rate-history',
    query: { instId: SWAP, after: toInstantMs(to + 1), limit: MAX_ROWS },
  }),
  read: (body, _range, title, nowMs) => computeDailyFunding(parseRows(fundingRow, body, title), nowMs),
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
  read: (body, _range, title, nowMs) =>
    parseRows(interestRow, body, title)
      .filter(([opensAtMs]) => opensAtMs > nowMs || opensAtMs + DAY_MS <= nowMs)
      .map(([opensAtMs, , , usd]) => ({ day: toDay(opensAtMs + DAY_MS), value: usd, providerAtMs: opensAtMs + DAY_MS })),
});

function parseRows<Row extends z.ZodType>(row: Row, body: unknown, title: string): z.output<Row>[] {
  requireAccepted(parseAnswer(z.object({ code: z.string() }), body, title).code, '0', title);
  return parseAnswer(z.object({ data: z.array(row) }), body, title).data;
}
