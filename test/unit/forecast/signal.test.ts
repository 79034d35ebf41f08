import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeEffectiveCount, createRandom } from '../../../src/forecast/bootstrap.ts';
import { parseDay } from '../../../src/forecast/day.ts';
import { cdf, crps, probabilityAbove, quantile } from '../../../src/forecast/distribution.ts';
import { computeFeatures } from '../../../src/forecast/features.ts';
import { type BlockFit, walkForward } from '../../../src/forecast/fit.ts';
import type { HorizonModel } from '../../../src/forecast/model.ts';
import { computeStreaks, summarizeRecord } from '../../../src/forecast/record-statistics.ts';
import { classifyRegimes } from '../../../src/forecast/regime.ts';
import {
  boundedLogLoss,
  brierScore,
  buildForecast,
  computeAccuracy,
  computeShareInterval,
  type ForecastValues,
  type Outcome,
  scoreDirection,
  selectNonOverlapping,
  toConfidence,
  toDirection,
  toSignal,
  wilsonInterval,
} from '../../../src/forecast/signal.ts';
import { computeCallStatistics, type RecordRow } from '../../../src/forecast/statistics.ts';
import { describeGolden, readGolden, readGoldenFrame, readGoldenRows } from './golden-frame.ts';
import { scored, windowSigns } from './scored-forecasts.ts';
import { syntheticFrame } from './synthetic-frame.ts';

const outcomes = (text: string): Outcome[] => [...text].map((letter) => (letter === 'W' ? 'WIN' : 'LOSS'));

describe('scoreDirection', () => {
  it.each([
    ['UP', 101, 'WIN'],
    ['UP', 100, 'LOSS'],
    ['UP', 99, 'LOSS'],
    ['DOWN', 101, 'LOSS'],
    ['DOWN', 100, 'WIN'],
    ['DOWN', 99, 'WIN'],
  ] as const)('%s from 100 to %d is a %s', (direction, close, outcome) => {
    expect(scoreDirection(direction, 100, close)).toBe(outcome);
  });
});

describe('probability scores', () => {
  it('are lower for the better forecast', () => {
    expect(brierScore(0.6, true)).toBeCloseTo(0.16, 15);
    expect(brierScore(0.6, false)).toBeCloseTo(0.36, 15);
    expect(boundedLogLoss(0.5, true)).toBeCloseTo(Math.LN2, 15);
    expect(boundedLogLoss(0.25, false)).toBeCloseTo(-Math.log(0.75), 15);
    expect(boundedLogLoss(0, true)).toBeCloseTo(-Math.log(1e-12), 9);
  });
});

describe('computeAccuracy and computeStreaks', () => {
  it('count wins', () => {
    expect(computeAccuracy(outcomes('WLWW'))).toBe(0.75);
    expect(computeAccuracy([])).toBeNull();
  });

  it.each([
    ['', null, 0],
    ['W', { type: 'WIN', count: 1 }, 1],
    ['WWLWWWLL', { type: 'LOSS', count: 2 }, 3],
    ['LWW', { type: 'WIN', count: 2 }, 2],
    ['LLL', { type: 'LOSS', count: 3 }, 0],
  ])('find the runs of "%s"', (text, current, longestWin) => {
    expect(computeStreaks(outcomes(text))).toEqual({ current, longestWin });
  });
});

describe('wilsonInterval', () => {
  it('agrees with published values', () => {
    const { low, high } = wilsonInterval(81, 263);
    expect(low).toBeCloseTo(0.2553, 4);
    expect(high).toBeCloseTo(0.3662, 4);
    expect(wilsonInterval(0, 20)).toEqual({ low: 0, high: expect.closeTo(0.1611, 4) });
    expect(wilsonInterval(0, 0)).toEqual({ low: 0, high: 1 });
  });

  it('contains the share, lies in [0, 1] and narrows with more trials', () => {
    const counts = fc.integer({ min: 1, max: 5000 }).chain((n) => fc.tuple(fc.integer({ min: 0, max: n }), fc.constant(n)));
    fc.assert(
      fc.property(counts, ([hits, n]) => {
        const { low, high } = wilsonInterval(hits, n);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(low).toBeLessThanOrEqual(hits / n);
        expect(high).toBeGreaterThanOrEqual(hits / n);
        expect(high).toBeLessThanOrEqual(1);
        const more = wilsonInterval(4 * hits, 4 * n);
        expect(more.high - more.low).toBeLessThan(high - low);
      }),
    );
  });

  it('mirrors hits and misses', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 300 }), (hits) => {
        expect(wilsonInterval(hits, 300).low).toBeCloseTo(1 - wilsonInterval(300 - hits, 300).high, 12);
      }),
    );
  });

  it.each([
    [-1, 5],
    [6, 5],
    [Number.NaN, 5],
  ])('rejects %d hits in %d', (hits, n) => {
    expect(() => wilsonInterval(hits, n)).toThrow(`${hits} hits in ${n} trials`);
  });
});

describe('selectNonOverlapping', () => {
  const daysOf = (days: number[], horizon: number) =>
    selectNonOverlapping(
      days.map((day) => ({ day })),
      horizon,
    ).map(({ day }) => day);

  it('keeps windows that begin when the last one kept has ended', () => {
    expect(daysOf([0, 1, 2, 3, 4, 5, 6, 7], 3)).toEqual([0, 3, 6]);
    expect(daysOf([0, 2, 4, 5, 12], 3)).toEqual([0, 4, 12]);
    expect(daysOf([5, 6, 7], 1)).toEqual([5, 6, 7]);
    expect(daysOf([], 7)).toEqual([]);
  });

  it('keeps a day that occurs twice once', () => {
    expect(daysOf([3, 3, 4, 4], 1)).toEqual([3, 4]);
  });
});
/** How often the interval of calls of UP, one a day, leaves out one half on a price without drift. */
function missedShare({ days, horizonDays, records }: { days: number; horizonDays: number; records: number }): number {
  const random = createRandom(7);
  const worth = computeEffectiveCount(
    Array.from({ length: days }, (_, day) => day),
    horizonDays,
  );
  let missed = 0;
  for (let record = 0; record < records; record++) {
    const rises = windowSigns({ days, horizonDays, random }).filter(Boolean).length;
    const { low, high } = computeShareInterval(rises / days, worth);
    if (low > 0.5 || high < 0.5) missed += 1;
  }
  return missed / records;
}

describe('computeShareInterval', () => {
  it.each([
    [1, 100],
    [3, 113],
    [7, 113],
    [7, 358],
  ])('covers the truth in about 95 % of records: %i days ahead on %i days', (horizonDays, days) => {
    const missed = missedShare({ days, horizonDays, records: 1_500 });
    expect(missed).toBeGreaterThan(0.03);
    expect(missed).toBeLessThan(0.07);
  });

  it('equals the Wilson interval of the counts without overlap', () => {
    expect(computeShareInterval(5 / 8, 8)).toEqual(wilsonInterval(5, 8));
  });

  it('is the same in the summary and in the statistics of a record', () => {
    const day = fc.record({ call: fc.constantFrom('UP', 'DOWN', null), rose: fc.boolean(), gap: fc.integer({ min: 1, max: 9 }) });
    fc.assert(
      fc.property(fc.array(day, { maxLength: 60 }), fc.constantFrom(1, 2, 3, 7), (days, horizonDays) => {
        let index = 0;
        const record = days.map(({ gap, ...changes }) => {
          index += gap;
          return scored(index, changes);
        });
        const rows = record.map((one): RecordRow => {
          const status = one.call === null ? 'HOLD' : (one.call === 'UP') === one.rose ? 'WIN' : 'LOSS';
          return { day: one.day, status, missed: false, scored: one };
        });
        const { wins, resolved, accuracy, accuracyInterval95, verdict } = summarizeRecord(rows, horizonDays);
        const { hits, n, accuracy: share, wilson95 } = computeCallStatistics(record, horizonDays);
        expect([wins, resolved, accuracy, accuracyInterval95]).toEqual([hits, n, share, wilson95]);
        if (wilson95 === null) return;
        expect(verdict).toContain(`: ${hits} of ${n} right`);
        expect(verdict).toContain(`95 % interval ${wilson95.low.toFixed(2)} to ${wilson95.high.toFixed(2)};`);
      }),
    );
  });
});
describe('buildForecast', () => {
  const frame = syntheticFrame({ rows: 1700 });
  const features = computeFeatures(frame);
  const fit = walkForward({ closes: frame.close, features, horizon: 3 }).at(-1)!;
  const index = fit.to - 5;
  const price = frame.close[index];
  const forecast = (model: HorizonModel) => buildForecast({ model, features, index, regime: 'BEAR_TREND', price });

  it('equals the walk-forward', () => {
    const values = forecast(fit.model);
    expect(values.pUp).toBe(fit.pUp[index - fit.from]);
    expect(values).toMatchObject({
      horizonDays: 3,
      modelVersion: fit.model.modelVersion,
      climatology: fit.model.baseRate,
      threshold: 0.04,
    });
    expect(1 - cdf(values.distribution, 0)).toBeCloseTo(values.pUp, 12);
    expect(probabilityAbove({ distribution: values.distribution, spot: price, strike: price })).toBeCloseTo(values.pUp, 12);
    expect(values.quantiles.map(({ level }) => level)).toEqual([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95]);
    expect(values.quantiles[3].price).toBe(price * Math.exp(quantile(values.distribution, 0.5)));
  });

  it('scores the four categories', () => {
    const { categories } = forecast(fit.model);
    expect(Object.keys(categories)).toEqual(['trend', 'momentum', 'flow', 'value']);
    for (const { score, signal } of Object.values(categories)) {
      expect(signal).toBe(score >= 0.2 ? 'BUY' : score <= -0.2 ? 'SELL' : 'HOLD');
    }
    expect(categories.trend.score).toBe(features.trend[index]);
  });

  it('returns SELL below the threshold', () => {
    const values = forecast({ ...fit.model, calA: fit.model.calA - 1 });
    expect(values.pUp).toBeLessThan(0.46);
    expect(values).toMatchObject({ direction: 'DOWN', signal: 'SELL', confidence: 1 - values.pUp });
    expect(values.quantiles[3].price).toBeLessThan(price);
  });

  it('returns HOLD between the thresholds', () => {
    const even = forecast({ ...fit.model, baseRate: 0.49, calA: 0, calB: 0 });
    expect(even).toMatchObject({ direction: 'DOWN', signal: 'HOLD' });
  });

  it('rejects missing rows, leaks and invalid prices', () => {
    const source = { model: fit.model, features, index, regime: 'CHOP', price } as const;
    expect(() => buildForecast({ ...source, index: features.length })).toThrow('there is no row 1700 in a table of 1700');
    const learned = fit.model.trainTo + 3 - features.firstDay;
    expect(() => buildForecast({ ...source, index: learned })).toThrow(`${fit.model.modelVersion} was trained on the price of 2019-03-16`);
    expect(() => buildForecast({ ...source, index: learned + 1 })).not.toThrow();
    expect(() => buildForecast({ ...source, price: 0 })).toThrow('a price of 0 cannot be forecast');
  });

  it('returns the known numbers', () => {
    const { pUp, climatology, distribution, quantiles } = forecast(fit.model);
    const actual = [pUp, climatology, distribution.scale, distribution.shift, quantiles[0].logReturn, quantiles[6].logReturn];
    expect(actual.map((value) => value.toPrecision(10))).toMatchInlineSnapshot(`
      [
        "0.4803199131",
        "0.4877883311",
        "0.06896149715",
        "0.01206906106",
        "-0.1121926395",
        "0.1148245236",
      ]
    `);
  });
});

describe('direction, confidence and signal', () => {
  it('is UP from one half', () => {
    expect([0.5, 0.4999999].map(toDirection)).toEqual(['UP', 'DOWN']);
  });

  it.each([
    [0.5, 0.5],
    [0.47, 0.53],
    [0.995, 0.99],
    [0.001, 0.99],
  ])('has for %d the confidence %d', (pUp, confidence) => {
    expect(toConfidence(pUp)).toBe(confidence);
  });

  it.each([
    [0.54, 'BUY'],
    [0.539, 'HOLD'],
    [0.461, 'HOLD'],
    [0.46, 'SELL'],
  ])('at %d is %s', (pUp, signal) => {
    expect(toSignal(pUp, 0.04)).toBe(signal);
  });
});

interface GoldenPrediction {
  fold: number;
  p_up: number;
  clim: number;
  direction: string;
  signal: string;
  confidence: number;
  regime: string;
  scale: number;
  quantiles: Record<string, number>;
  p_above: Record<string, number>;
  crps: number;
  realised: number;
}

interface GoldenFold {
  fold: number;
  n: number;
  base: number;
  acc: number;
  brier: number;
  brier_clim: number;
  signals: number;
  crps: number;
}

/** Sums over the forecasts of one or more folds. */
interface Tally {
  n: number;
  rises: number;
  wins: number;
  brier: number;
  climatologyBrier: number;
  signals: number;
  sells: number;
  crps: number;
  inside80: number;
}

describeGolden('forecasts of real history', () => {
  const frame = readGoldenFrame();
  const { close } = frame;
  const features = computeFeatures(frame);
  const regimes = classifyRegimes(features);

  const forecastAt = (fits: BlockFit[], index: number): ForecastValues => {
    const { model } = fits.find(({ from, to }) => index >= from && index < to)!;
    return buildForecast({ model, features, index, regime: regimes[index], price: close[index] });
  };

  const emptyTally = (): Tally => ({ n: 0, rises: 0, wins: 0, brier: 0, climatologyBrier: 0, signals: 0, sells: 0, crps: 0, inside80: 0 });

  const tallyOf = (fits: BlockFit[], horizon: number): Tally => {
    const tally = emptyTally();
    for (const { from, to } of fits) {
      for (let index = from; index < to; index++) {
        const values = forecastAt(fits, index);
        const [open, end] = [close[index], close[index + horizon]];
        const level = cdf(values.distribution, Math.log(end / open));
        tally.n++;
        tally.rises += end > open ? 1 : 0;
        tally.wins += scoreDirection(values.direction, open, end) === 'WIN' ? 1 : 0;
        tally.brier += brierScore(values.pUp, end > open);
        tally.climatologyBrier += brierScore(values.climatology, end > open);
        tally.signals += values.signal === 'HOLD' ? 0 : 1;
        tally.sells += values.signal === 'SELL' ? 1 : 0;
        tally.crps += crps(values.distribution, Math.log(end / open));
        tally.inside80 += level >= 0.1 && level <= 0.9 ? 1 : 0;
      }
    }
    return tally;
  };

  describe.each([2, 3, 7] as const)('at %d days', (horizon) => {
    const fits = walkForward({ closes: close, features, horizon });
    const folds = fits.filter(({ model }) => model.block >= 0 && model.block < 19);

    it('equal the reference within 1e-7', () => {
      const golden = readGolden<Record<string, Record<string, GoldenPrediction>>>('predictions.json')[`${horizon}d`];
      for (const [date, expected] of Object.entries(golden)) {
        const index = parseDay(date) - frame.firstDay;
        const values = forecastAt(fits, index);
        const { distribution } = values;
        expect(values).toMatchObject({ direction: expected.direction, signal: expected.signal, regime: expected.regime });
        const moves = Object.keys(expected.p_above);
        const pairs = [
          [values.pUp, expected.p_up],
          [values.climatology, expected.clim],
          [values.confidence, expected.confidence],
          [distribution.scale, expected.scale],
          [crps(distribution, expected.realised), expected.crps],
          ...Object.entries(expected.quantiles).map(([level, value]) => [quantile(distribution, Number(level)), value]),
          ...moves.map((move) => [probabilityAbove({ distribution, spot: 1, strike: 1 + Number(move) }), expected.p_above[move]]),
        ];
        for (const [actual, value] of pairs) expect(Math.abs(actual / value - 1), date).toBeLessThan(1e-7);
      }
    });

    it('equal every row of the out-of-sample file', () => {
      const digits = (name: string) => (name.startsWith('q') ? 5.1e-9 : 5.1e-11);
      for (const row of readGoldenRows('oos_predictions.csv')) {
        const index = parseDay(row.date) - frame.firstDay;
        const { pUp, climatology, signal, distribution } = forecastAt(fits, index);
        const expected = (name: string) => Number(row[`${name}_${horizon}d`]);
        const numbers = { p: pUp, clim: climatology, q10: quantile(distribution, 0.1), q90: quantile(distribution, 0.9) };
        for (const [name, value] of Object.entries(numbers)) {
          expect(Math.abs(value - expected(name)), `${name} of ${row.date}`).toBeLessThan(digits(name));
        }
        expect({ BUY: 1, HOLD: 0, SELL: -1 }[signal], row.date).toBe(expected('signal'));
        expect(close[index + horizon] > close[index] ? 1 : 0, row.date).toBe(expected('label'));
      }
    });

    it('score as the reference in every fold', () => {
      for (const expected of readGolden<Record<string, { folds: GoldenFold[] }>>('oos_metrics.json')[`${horizon}d`].folds) {
        const tally = tallyOf([folds[expected.fold - 1]], horizon);
        expect([tally.n, tally.signals]).toEqual([expected.n, expected.signals]);
        expect(tally.rises / tally.n).toBeCloseTo(expected.base, 12);
        expect(tally.wins / tally.n).toBeCloseTo(expected.acc, 12);
        expect(tally.brier / tally.n).toBeCloseTo(expected.brier, 9);
        expect(tally.climatologyBrier / tally.n).toBeCloseTo(expected.brier_clim, 9);
        expect(tally.crps / tally.n).toBeCloseTo(expected.crps, 9);
      }
    });

    it('score over all folds as published', () => {
      const tally = tallyOf(folds, horizon);
      const published = { 2: [0.533, 0.53, 0.26, 0.79], 3: [0.537, 0.537, 0.18, 0.79], 7: [0.534, 0.534, 0.17, 0.795] }[horizon];
      const skill = 100 * (1 - tally.brier / tally.climatologyBrier);
      expect([tally.n, tally.sells]).toEqual([3420, 0]);
      const rounded = [tally.rises / tally.n, tally.wins / tally.n, tally.inside80 / tally.n].map(
        (share) => Math.round(share * 1000) / 1000,
      );
      expect(rounded).toEqual([published[0], published[1], published[3]]);
      expect(Math.round(skill * 100) / 100).toBe(published[2]);
    });
  });
});
