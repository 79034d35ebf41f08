import { zeroHash } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { formatDay, parseDay } from '../../../../src/forecast/day.ts';
import { REGIMES, type Regime } from '../../../../src/forecast/regime.ts';
import { getSignalTimeMs } from '../../../../src/market/feed.ts';
import { ensureIndexes } from '../../../../src/platform/mongo.ts';
import { buildMetadata } from '../../../../src/record/forecast-doc.ts';
import { ForecastRecord, RECORD_INDEXES } from '../../../../src/record/forecasts.ts';
import { getCurrentRegime, listRegimes } from '../../../../src/record/market.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';

const FIRST = parseDay('2026-03-01');
const NAMES: Record<string, Regime | null> = { C: 'CHOP', B: 'BULL_TREND', X: 'CRISIS', '-': null };
const factors = { trendPosition: 'above', momentum: '+1 %', sentiment: 'greed', volatility: '1.00 times' };

let database: TestDatabase;
let record: ForecastRecord;

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, RECORD_INDEXES);
  record = new ForecastRecord({ db: database.db, saltSecret: 'a secret of a test', horizons: [] });
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.collection('days').deleteMany({});
  await record.known.load();
});

/** One letter per day from 1 March: C, B, X for regimes, `-` for a missed day; the first three are replayed. */
async function days(letters: string): Promise<void> {
  const docs = [...letters].map((letter, index) => {
    const day = FIRST + index;
    const regime = NAMES[letter];
    return {
      ...{ _id: formatDay(day), day, sequence: index + 1, signalAt: new Date(getSignalTimeMs(day)), replayed: index < 3, late: false },
      missedBecause: regime === null ? 'the service was not running' : null,
      ...{
        price: null,
        context: null,
        modelVersion: null,
        categories: null,
        variance: null,
        moves: null,
        inputsDigest: zeroHash,
        forecasts: {},
      },
      regime,
      regimeFactors: regime === null ? null : factors,
      metadata: buildMetadata({ day }),
    };
  });
  await record.days.insertMany(docs);
  await record.known.load();
}

/** The record with market data up to a day. */
const deps = (lastDay: number | null = null) => ({ record, market: { coverage: async () => ({ firstDay: FIRST, lastDay }) } });

const noonAfter = (letters: string) => new Date(getSignalTimeMs(FIRST + letters.length - 1) + 14 * 3_600_000);

describe('the current regime', () => {
  it.each([
    ['CCC', { regime: 'CHOP', since: '2026-03-01', daysHeld: 3, previousRegime: null, missedSince: null }],
    ['CCBB', { regime: 'BULL_TREND', since: '2026-03-03', daysHeld: 2, previousRegime: 'CHOP', missedSince: null }],
    ['BCCB', { regime: 'BULL_TREND', since: '2026-03-04', daysHeld: 1, previousRegime: 'CHOP', missedSince: null }],
    ['CXX-X', { regime: 'CRISIS', since: '2026-03-02', daysHeld: 4, previousRegime: 'CHOP', missedSince: null }],
    ['C-BB--', { regime: 'BULL_TREND', since: '2026-03-03', daysHeld: 2, previousRegime: 'CHOP', missedSince: '2026-03-05' }],
  ])('after %s has its first day and its predecessor', async (letters, expected) => {
    await days(letters);
    const current = await getCurrentRegime(deps(), noonAfter(letters));
    const { riskLevel, description } = REGIMES[current.regime];
    expect(current).toMatchObject({ ...expected, riskLevel, description, factors });
    expect(current.stale).toBe(expected.missedSince !== null);
    expect(current.timestamp).toBe(new Date(getSignalTimeMs(parseDay(current.date))).toISOString());
  });

  it('is next evaluated the following evening, within the market data', async () => {
    await days('CC');
    const now = noonAfter('CC');
    const next = async (lastDay: number | null) => (await getCurrentRegime(deps(lastDay), now)).nextEvaluationAt;
    expect(await next(null)).toBe('2026-03-03T21:35:00.000Z');
    expect(await next(FIRST + 2)).toBe('2026-03-03T21:35:00.000Z');
    expect(await next(FIRST + 1)).toBeNull();
  });

  it('throws STEP_WAITING before the first day', async () => {
    await expect(getCurrentRegime(deps(), new Date())).rejects.toMatchObject({ code: 'STEP_WAITING' });
  });
});

describe('the history of regimes', () => {
  const transition = (date: string, from: Regime, to: Regime, replayed: boolean) => ({
    ...{ date, from, to, replayed },
    timestamp: `${date}T21:35:00.000Z`,
  });

  it('lists every day, missed ones included, and the transitions, newest first', async () => {
    await days('CCBB-X');
    const history = await listRegimes(record, 90);
    expect(history.days.map(({ date }) => date)).toEqual([6, 5, 4, 3, 2, 1].map((date) => `2026-03-0${date}`));
    expect(history.days[0]).toEqual({
      ...{ date: '2026-03-06', regime: 'CRISIS', riskLevel: 'Extreme', timestamp: '2026-03-06T21:35:00.000Z' },
      ...{ missed: false, replayed: false },
    });
    expect(history.days[1]).toMatchObject({ date: '2026-03-05', regime: null, riskLevel: null, missed: true });
    expect(history.transitions).toEqual([
      transition('2026-03-06', 'BULL_TREND', 'CRISIS', false),
      transition('2026-03-03', 'CHOP', 'BULL_TREND', true),
    ]);
  });

  it('derives the transition on its oldest day from the day before, skipping missed ones', async () => {
    await days('C-BB');
    const { days: expected, transitions } = await listRegimes(record, 2);
    expect(expected).toHaveLength(2);
    expect(transitions).toEqual([transition('2026-03-03', 'CHOP', 'BULL_TREND', true)]);
    expect((await listRegimes(record, 1)).transitions).toEqual([]);
  });

  it('is empty before the first day', async () => {
    expect(await listRegimes(record, 90)).toEqual({ days: [], transitions: [] });
  });
});
