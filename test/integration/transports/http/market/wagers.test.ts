import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { formatDay, parseDay } from '../../../../../src/forecast/day.ts';
import { WAGERS_REPLY, type WagersReply, wagerRoutes } from '../../../../../src/http/routes/prediction-markets.ts';
import type { Services } from '../../../../../src/http/services.ts';
import { ensureIndexes } from '../../../../../src/platform/mongo.ts';
import { CrowdFigures } from '../../../../../src/record/crowd.ts';
import { type ForecastDoc, formatForecastId } from '../../../../../src/record/forecast-doc.ts';
import { ForecastRecord, RECORD_INDEXES } from '../../../../../src/record/forecasts.ts';
import { WAGER_INDEXES, WagerBook, type WagerDoc } from '../../../../../src/wager/wagers.ts';
import { type TestDatabase, testDatabase } from '../../../../support/database/database.ts';
import { call } from '../../../../support/http/serve.ts';
import { buildTestForecast } from '../../../../unit/record/forecast-fixture.ts';
import { settledWager } from '../../../pipeline/steps/wager-fixtures.ts';

const NOW = new Date('2026-03-20T12:00:00Z');
/** The forecasts of all horizons of this day are over at that time; those of the day after are not. */
const LAST = parseDay('2026-03-12');
const LATER = LAST + 1;
const STAKE = { costMicros: 5_100_000, payoutMicros: 10_000_000 };

let database: TestDatabase;
let wagers: WagerBook;
let record: ForecastRecord;

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, [...WAGER_INDEXES, ...RECORD_INDEXES]);
  wagers = new WagerBook(database.db);
  record = new ForecastRecord({ db: database.db, saltSecret: 's'.repeat(32), horizons: [1, 2, 3, 7] });
});
afterAll(() => database.drop());
beforeEach(async () => {
  await Promise.all([wagers.wagers.deleteMany({}), record.forecasts.deleteMany({})]);
});

async function list(query: Record<string, unknown> = {}, caller?: Parameters<typeof call>[1]): Promise<WagersReply> {
  const market = { source: 'simulated (seed 2)' } as Services['market'];
  await record.known.load();
  const crowd = new CrowdFigures(record.known, { name: 'paper', sameBook: ['paper'] });
  const [route] = wagerRoutes({ record, crowd, market, now: () => NOW } as Services);
  const { body } = await call(route, { ...caller, query: { limit: 60, ...query } });
  expect(WAGERS_REPLY.parse(body)).toEqual(body);
  return body;
}

const keep = (...docs: WagerDoc[]) => wagers.wagers.insertMany(docs);

const skipped = (day: number): WagerDoc => ({
  ...settledWager(day, 'LOSS'),
  ...{ state: 'SKIPPED', side: null, contracts: 0, costMicros: 0, payoutMicros: null, placedAt: null },
  skippedBecause: 'no edge after costs',
});

describe('wagers', () => {
  it('are listed newest first with book and outcome', async () => {
    const book = { bids: [{ price: 0.49, size: 120 }], asks: [{ price: 0.51, size: 80 }] };
    const feedbackTxHash = `0x${'f'.repeat(64)}`;
    await keep(
      settledWager(LAST - 2, 'LOSS'),
      { ...settledWager(LAST, 'WIN'), book, weight: 0.25, feedbackTxHash, replayed: true },
      skipped(LAST - 1),
    );
    const { wagers: rows, count, total, throughDate, notes } = await list();
    expect([count, total, throughDate]).toEqual([3, 3, '2026-03-12']);
    expect(rows.map(({ date, state, profitMicros }) => [date, state, profitMicros])).toEqual([
      ['2026-03-12', 'WIN', 4_900_000],
      ['2026-03-11', 'SKIPPED', 0],
      ['2026-03-10', 'LOSS', -5_100_000],
    ]);
    expect(rows[0]).toMatchObject({
      ...{ venue: 'paper', asset: 'PAPER-USD', quotesAreOurs: true, marketId: `m:${LAST}`, strike: 1, side: 'YES', contracts: 10 },
      ...{ ...STAKE, winner: 'YES', pModel: 0.6, qMarket: 0.5, pBelieved: 0.55, weight: 0.25, feedbackTxHash, replayed: true },
      book: { bid: 0.49, ask: 0.51, fee: 0, at: '1970-01-01T00:00:00.000Z', ...book },
    });
    expect(rows[1]).toMatchObject({ skippedBecause: 'no edge after costs', side: null, costMicros: 0, winner: 'NO' });
    expect(notes).toEqual([
      expect.stringContaining('Paper wagers'),
      expect.stringContaining('replayed'),
      expect.stringContaining('throughDate'),
    ]);
  });

  it('are limited by `limit`, while accounts cover all', async () => {
    await keep(...[3, 2, 1, 0].map((back) => settledWager(LAST - back, back % 2 === 0 ? 'WIN' : 'LOSS')));
    const { wagers: rows, count, total, accounts } = await list({ limit: 1 });
    expect([rows.map(({ date }) => date), count, total]).toEqual([['2026-03-12'], 1, 4]);
    expect(accounts).toEqual([
      {
        ...{ venue: 'paper', asset: 'PAPER-USD', quotesAreOurs: true, wins: 2, losses: 2, voids: 0, open: 0, skipped: 0 },
        ...{ stakedMicros: 20_400_000, returnedMicros: 20_000_000, profitMicros: -400_000, openMicros: 0 },
        profitByDay: [-5_100_000, -200_000, -5_300_000, -400_000].map((profitMicros, index) => ({
          date: formatDay(LAST - 3 + index),
          profitMicros,
        })),
      },
    ]);
  });

  it('without a winner are neither won nor lost, nor open', async () => {
    await keep(settledWager(LAST, 'VOID'));
    const { wagers: rows, accounts } = await list();
    expect(rows[0]).toMatchObject({ state: 'VOID', winner: null, payoutMicros: 5_000_000, profitMicros: -100_000, feedbackTxHash: null });
    expect(accounts[0]).toMatchObject({ wins: 0, losses: 0, voids: 1, open: 0, openMicros: 0, profitMicros: -100_000 });
  });

  it('of another venue or asset have their own account', async () => {
    const exchange = { venue: 'polymarket', asset: 'USDC' };
    await keep(settledWager(LAST - 1, 'WIN'), { ...settledWager(LAST, 'LOSS'), ...exchange });
    const { accounts, wagers: rows } = await list();
    expect(accounts.map(({ venue, quotesAreOurs, profitMicros }) => [venue, quotesAreOurs, profitMicros])).toEqual([
      ['paper', true, 4_900_000],
      ['polymarket', false, -5_100_000],
    ]);
    expect(rows[0]).toMatchObject({ ...exchange, quotesAreOurs: false });
  });

  it('may have no market, and truncate text of the venue', async () => {
    await keep({
      ...skipped(LAST),
      market: null,
      quote: null,
      pModel: null,
      qMarket: null,
      pBelieved: null,
      winner: null,
      settledAt: null,
      skippedBecause: 'x'.repeat(5_000),
    });
    const [row] = (await list()).wagers;
    expect(row).toMatchObject({ marketId: null, strike: null, expiresAt: null, book: null, pModel: null });
    expect(row.skippedBecause).toHaveLength(300);
  });

  it('are empty before the first', async () => {
    expect(await list()).toMatchObject({ accounts: [], wagers: [], count: 0, total: 0 });
  });
});

describe('a wager of an unpublished day', () => {
  const without = async () => {
    const { timestamp: _, ...answer } = await list();
    return answer;
  };

  it.each<[string, WagerDoc]>([
    ['placed', { ...settledWager(LATER, 'WIN'), state: 'PLACED', payoutMicros: null, winner: null, settledAt: null }],
    ['won', settledWager(LATER, 'WIN')],
    ['lost', settledWager(LATER, 'LOSS')],
    ['skipped', skipped(LATER)],
  ])('is in no row, count or sum: %s', async (_, wager) => {
    await keep(settledWager(LAST, 'WIN'));
    const before = await without();
    await keep(wager);
    expect(await without()).toEqual(before);
  });

  it('is hidden from Premium callers too', async () => {
    await keep(settledWager(LAST, 'WIN'), settledWager(LATER, 'WIN'));
    expect((await list({}, { caller: { tier: 'premium' } })).wagers.map(({ date }) => date)).toEqual(['2026-03-12']);
  });

  it('hides all later days: one late resolution is enough', async () => {
    const day = LAST - 1;
    const late: ForecastDoc = { ...buildTestForecast({ date: formatDay(day), horizonDays: 2 }), _id: formatForecastId(day, 2) };
    await record.forecasts.insertOne(late);
    await keep(settledWager(LAST - 2, 'WIN'), settledWager(LAST - 1, 'WIN'), settledWager(LAST, 'WIN'));
    const { throughDate, total, accounts } = await list();
    expect([throughDate, total, accounts[0].wins]).toEqual([formatDay(LAST - 2), 1, 1]);
  });
});
