import { describe, expect, it } from 'vitest';
import { TIERS, type Tier } from '../../../src/auth/caller.ts';
import { computeEffectiveCount } from '../../../src/forecast/bootstrap.ts';
import { formatDay, parseDay } from '../../../src/forecast/day.ts';
import { computeShareInterval, wilsonInterval } from '../../../src/forecast/signal.ts';
import type { ForecastDoc } from '../../../src/record/forecast-doc.ts';
import { toScorecardEntry } from '../../../src/record/scorecard.ts';
import { buildTestForecast } from './forecast-fixture.ts';
import { scorecardOf } from './scorecard-fixture.ts';

const options = { caller: { tier: 'public' as const }, policy: 'resolution' as const, now: new Date('2027-01-01T00:00:00Z') };

/** One forecast per day; W and L are scored, H held, V void, P pending. Always UP, so that a loss is a fall. */
function record(letters: string, horizonDays = 1): ForecastDoc[] {
  const states = { W: 'WIN', L: 'LOSS', H: 'HOLD', V: 'VOID', P: 'PENDING' } as const;
  return [...letters].map((letter, index) =>
    buildTestForecast({
      date: formatDay(parseDay('2026-01-01') + index),
      horizonDays,
      state: states[letter as keyof typeof states],
      actual: letter === 'L' ? 'DOWN' : 'UP',
    }),
  );
}

describe('the scorecard', () => {
  it('scores wins and losses only, and counts the rest', () => {
    const { summary, stats } = scorecardOf(record('WWLHVWP'), 1, options);
    expect(summary).toMatchObject({ totalPredictions: 7, resolved: 4, wins: 3, losses: 1, holds: 1, voids: 1, pending: 1, accuracy: 0.75 });
    expect(summary.streak).toEqual({ count: 1, type: 'WIN' });
    expect(stats).toEqual({ total: 7, scored: 4, wins: 3, losses: 1, accuracy: 0.75, currentStreak: 1, longestStreak: 2 });
  });

  it('makes no claim before the first resolution', () => {
    const { summary } = scorecardOf(record('PP'), 1, options);
    expect(summary).toMatchObject({ scored: 0, accuracyInterval95: null, dedupedInterval95: null, alwaysUpAccuracy: null });
    expect(summary.verdict).toBe('nothing resolved yet: no claim can be made');
    expect(scorecardOf([], 7, options).predictions).toEqual([]);
  });

  it('counts overlapping windows by their effective sample size', () => {
    const { summary } = scorecardOf(record('W'.repeat(21), 7), 7, options);
    expect(summary).toMatchObject({ resolved: 21, dedupedTotal: 3, dedupedWins: 3, dedupedAccuracy: 1 });
    expect(summary.dedupedInterval95).toEqual(wilsonInterval(3, 3));
    expect(summary.accuracyInterval95).toEqual({ low: expect.closeTo(0.5379, 4), high: 1 });
  });

  it('gives clustered calls no more trials than all calls are worth', () => {
    // A week of right calls, which is one window, and ten separate windows, half of them right.
    const days = [0, 1, 2, 3, 4, 5, 6, ...Array.from({ length: 10 }, (_, index) => 20 + 10 * index)];
    const docs = days.map((day, index) => {
      const date = formatDay(parseDay('2026-01-01') + day);
      return buildTestForecast({ date, horizonDays: 7, state: index < 7 || index % 2 === 0 ? 'WIN' : 'LOSS' });
    });
    const { summary } = scorecardOf(docs, 7, options);
    const worth = computeEffectiveCount(
      docs.map(({ day }) => day),
      7,
    );
    expect(summary.dedupedTotal).toBe(11);
    expect(worth).toBeLessThan(9);
    expect(summary.accuracyInterval95).toEqual(computeShareInterval(summary.accuracy!, worth));
  });

  it('states that a record of UP calls on every day is always-UP', () => {
    const { summary } = scorecardOf(record('WLWLWWLW'), 1, options);
    expect(summary.alwaysUpAccuracy).toBe(summary.accuracy);
    expect(summary.verdict).toMatch(
      /^not distinguishable from always-UP: 5 of 8 right, 95 % interval 0\.31 to 0\.86; every call was UP: no day was left out, so that it is always-UP$/,
    );
  });

  it('states when it does not differ from always-UP', () => {
    const docs = record('WLWLWWLW');
    docs.push(buildTestForecast({ date: '2026-01-09', horizonDays: 1, state: 'WIN', direction: 'DOWN', actual: 'DOWN' }));
    const { summary } = scorecardOf(docs, 1, options);
    expect(summary.alwaysUpAccuracy).toBeCloseTo(5 / 9, 12);
    expect(summary.verdict).toBe('not distinguishable from always-UP: 6 of 9 right, 95 % interval 0.35 to 0.88; always-UP 5 of 9');
  });

  it.each(['', 'PP', 'HHP', 'VV'])('has numbers where nothing is scored, and the count of zero: "%s"', (states) => {
    const { summary, stats } = scorecardOf(record(states), 1, options);
    expect(summary).toMatchObject({ scored: 0, resolved: 0, accuracy: 0, dedupedAccuracy: 0, streak: { count: 0, type: 'WIN' } });
    expect(stats).toMatchObject({ scored: 0, accuracy: 0, currentStreak: 0, longestStreak: 0 });
    expect(summary.verdict).toMatch(/^(nothing resolved yet|no calls)/);
  });

  it('shows the price at signal time as provisional until the window opens, gated or not', () => {
    const [doc] = record('P');
    const opened = { ...doc, btcAtSignalCents: 6_400_000 };
    const [before] = scorecardOf([{ ...doc, btcAtSignalCents: null }], 1, options).predictions;
    expect(before).toMatchObject({ signal: 'GATED', btcAtSignal: before.btcPrice, provisional: true });
    expect(scorecardOf([opened], 1, options).predictions[0]).toMatchObject({ btcAtSignal: 64_000, provisional: false });
    const missed = { ...doc, values: null, missed: true, btcAtSignalCents: null };
    expect(scorecardOf([missed], 1, options).predictions[0]).toMatchObject({ btcAtSignal: null, provisional: true });
  });

  it('shows a page of the newest, and names the last of it when more follow', () => {
    const page = (limit: number) => {
      const { predictions, nextBefore, summary } = scorecardOf(record('WLWLW'), 1, options, limit);
      return [predictions.map(({ sequence }) => sequence), nextBefore, summary.resolved];
    };
    expect(page(2)).toEqual([[5, 4], 4, 5]);
    expect(page(4)).toEqual([[5, 4, 3, 2], 2, 5]);
    expect(page(5)).toEqual([[5, 4, 3, 2, 1], null, 5]);
    expect(scorecardOf([], 1, options)).toMatchObject({ predictions: [], nextBefore: null });
  });

  it('states when every resolved forecast abstained', () => {
    expect(scorecardOf(record('HHP'), 1, options).summary.verdict).toBe('no calls: all 2 resolved forecasts were HOLD');
  });

  it('scores the probabilities of all resolved forecasts, HOLD included, against the base rate', () => {
    const { brier } = scorecardOf(record('WLHP'), 1, options).summary;
    expect(brier!.n).toBe(3);
    expect(brier!.model).toBeCloseTo((2 * (1 - 0.5876) ** 2 + 0.5876 ** 2) / 3, 12);
    expect(brier!.climatology).toBeCloseTo((2 * (1 - 0.54) ** 2 + 0.54 ** 2) / 3, 12);
    expect(scorecardOf(record('PP'), 1, options).summary.brier).toBeNull();
  });

  it('lists the newest first, with the fields of both shapes', () => {
    const [pending, loss] = scorecardOf(record('WLP'), 1, options).predictions;
    expect(pending).toMatchObject({
      date: '2026-01-03',
      status: 'PENDING',
      signal: 'GATED',
      direction: null,
      confidence: null,
      outcome: null,
      resolvedAt: null,
    });
    expect(loss).toMatchObject({
      date: '2026-01-02',
      status: 'LOSS',
      direction: 'UP',
      btcPrice: 90_000,
      btcAtSignal: 90_000,
      btcAtResolution: 89_000,
      outcome: { actualReturn: -0.0111, actualDirection: 'DOWN', correct: false },
    });
  });
});

describe('the price band of an entry', () => {
  const bandFor = (tier: Tier, doc: ForecastDoc, now = new Date('2026-01-06T00:00:00Z')) =>
    toScorecardEntry(doc, { ...options, caller: { tier }, now }).band80;
  const BAND = { low: 84_123.46, median: 91_000, high: 98_765.43 };

  it('is Premium only while the forecast is open, and public once its outcome is on chain', () => {
    for (const state of ['DRAFT', 'PENDING'] as const) {
      expect(TIERS.map((tier) => bandFor(tier, buildTestForecast({ state })))).toEqual([null, null, BAND]);
    }
    for (const state of ['WIN', 'LOSS', 'HOLD'] as const) {
      expect(TIERS.map((tier) => bandFor(tier, buildTestForecast({ state })))).toEqual([BAND, BAND, BAND]);
    }
  });

  it('is hidden from payers of the direction, and under the policy "immediate"', () => {
    const doc = buildTestForecast();
    const now = new Date('2026-01-06T00:00:00Z');
    expect(toScorecardEntry(doc, { ...options, now, caller: { tier: 'public', paid: true } }).band80).toBeNull();
    expect(toScorecardEntry(doc, { ...options, now, policy: 'immediate' })).toMatchObject({ band80: null, direction: 'UP' });
  });

  it('of a void forecast is shown after its window, and of a missed one never', () => {
    const doc = buildTestForecast({ state: 'VOID' });
    expect(bandFor('public', doc, new Date(doc.resolvesAt.getTime() - 1))).toBeNull();
    expect(bandFor('public', doc, doc.resolvesAt)).toEqual(BAND);
    expect(toScorecardEntry({ ...doc, values: null, regime: null }, options)).toMatchObject({ band80: null, riskLevel: null });
  });

  it('comes with the risk level of the regime', () => {
    expect(toScorecardEntry(buildTestForecast(), options)).toMatchObject({ regime: 'CHOP', riskLevel: 'Moderate' });
  });
});
