import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../src/forecast/day.ts';
import { computeFeatures, computeVariance } from '../../../src/forecast/features.ts';
import { sliceFrame } from '../../../src/forecast/inputs.ts';
import { formatModelVersion, getBlockIndex, getBlockStart, HORIZONS, type HorizonDays } from '../../../src/forecast/model.ts';
import { fitWidths } from '../../../src/forecast/models.ts';
import { computeBigMoveProbability } from '../../../src/forecast/move.ts';
import { MOVE_REFERENCE_DAYS, MoveForecaster, type MoveHistory } from '../../../src/forecast/move-forecaster.ts';
import {
  computeMoveDifference,
  createMoveReferences,
  fitReferences,
  forecastByEwma,
  scoreProbability,
} from '../../../src/forecast/move-scores.ts';
import { sharedPath } from '../../support/record/shared.ts';
import { describeGolden, readCsvRows, readGoldenFrame } from './golden-frame.ts';
import { syntheticFrame } from './synthetic-frame.ts';

function fitOf({ frame, features }: MoveHistory, day: number, horizonDays: HorizonDays) {
  const block = getBlockIndex(day);
  return { ...fitWidths({ closes: frame.close, features }, block, horizonDays)!, modelVersion: formatModelVersion(block, 'm1') };
}

describeGolden('the size of the move', () => {
  const frame = readGoldenFrame();
  const features = computeFeatures(frame);
  const rows = readCsvRows(sharedPath('golden-m1', 'move.csv'));

  it.each(HORIZONS)('is that of the reference at %i days', (horizonDays) => {
    const forecaster = new MoveForecaster();
    const own = rows.filter(({ horizon }) => Number(horizon) === horizonDays);
    expect(own).toHaveLength(2520);
    let fit = fitOf({ frame, features }, parseDay(own[0]!.date!), horizonDays);
    for (const { date, big_limit_log, p_big, width80, third, big } of own) {
      const day = parseDay(date!);
      if (getBlockStart(getBlockIndex(day)) === day) fit = fitOf({ frame, features }, day, horizonDays);
      const move = forecaster.forecast({ frame, features }, day, fit)!;
      const row = day - frame.firstDay;
      expect(Math.abs(move.bigMove - Number(big_limit_log))).toBeLessThan(1e-6);
      expect(Math.abs(move.pBig - Number(p_big))).toBeLessThan(1e-5);
      expect(Math.abs(move.width80 - Number(width80))).toBeLessThan(1e-7);
      expect(`${date} ${move.moveSize}`).toBe(`${date} ${third}`);
      expect(Math.abs(Math.log(frame.close[row + horizonDays]! / frame.close[row]!)) > move.bigMove).toBe(big === '1');
    }
  });

  /** Brier skill against the four-year frequency over all 19 folds, percent: of the forecast, and of EWMA. */
  it.each([
    [1, 8.3, 6.8],
    [2, 7.5, 6.3],
    [3, 6.9, 6.0],
    [7, 2.2, 1.6],
  ] as const)('has the known skill at %i days, and so has its reference', (horizonDays, ours, ewma) => {
    const forecaster = new MoveForecaster();
    const sums = { ours: 0, ewma: 0, frequency: 0 };
    for (let block = 0; block < 19; block++) {
      const start = getBlockStart(block);
      const fit = fitOf({ frame, features }, start, horizonDays);
      const reference = fitReferences({ firstDay: frame.firstDay, closes: frame.close }, features.v94, block, horizonDays)!;
      for (let day = start; day < getBlockStart(block + 1); day++) {
        const row = day - frame.firstDay;
        const move = forecaster.forecast({ frame, features }, day, fit)!;
        const big = Math.abs(Math.log(frame.close[row + horizonDays]! / frame.close[row]!)) > move.bigMove;
        sums.ours += scoreProbability(move.pBig, big);
        sums.ewma += scoreProbability(forecastByEwma(reference, features.v94[row]!, horizonDays), big);
        sums.frequency += scoreProbability(reference.frequency, big);
      }
    }
    expect(100 * (1 - sums.ours / sums.frequency)).toBeCloseTo(ours, 1);
    expect(100 * (1 - sums.ewma / sums.frequency)).toBeCloseTo(ewma, 1);
  });
});

describe('the size of the move', () => {
  const frame = syntheticFrame({ rows: 2400, firstDay: parseDay('2012-01-01') });
  const features = computeFeatures(frame);
  const last = frame.firstDay + features.length - 1;

  it('is the same from a history that ends with the day, whole or followed day by day', () => {
    const following = new MoveForecaster();
    for (const day of [last - 40, last - 39, last - 20]) {
      const cut = sliceFrame(frame, day);
      const history = { frame: cut, features: computeFeatures(cut) };
      const fit = fitOf(history, day, 2);
      const alone = new MoveForecaster().forecast(history, day, fit);
      expect(alone).not.toBeNull();
      expect(following.forecast(history, day, fit)).toEqual(alone);
      expect(new MoveForecaster().forecast({ frame, features }, day, fit)).toEqual(alone);
    }
  });

  it('follows a revision of the history', () => {
    const forecaster = new MoveForecaster();
    const fit = fitOf({ frame, features }, last, 1);
    const before = forecaster.forecast({ frame, features }, last, fit)!;
    const revised = { ...frame, close: frame.close.with(features.length - 400, frame.close[features.length - 400]! * 1.3) };
    const history = { frame: revised, features: computeFeatures(revised) };
    const after = forecaster.forecast(history, last, fit)!;
    expect(after).toEqual(new MoveForecaster().forecast(history, last, fit));
    expect(after.wildFrom).not.toBe(before.wildFrom);
  });

  it('is null where the prices before those two years never moved', () => {
    const rows = features.length;
    const still = frame.close.map((close, row) => (row < rows - 1_100 ? frame.close[rows - 1_100]! : close));
    const quiet = { ...frame, close: still, high: still, low: still };
    const history = { frame: quiet, features: computeFeatures(quiet) };
    expect(new MoveForecaster().forecast(history, last, fitOf({ frame, features }, last, 1))).toBeNull();
  });

  it('is null without two years before the day', () => {
    const day = frame.firstDay + MOVE_REFERENCE_DAYS - 1;
    expect(new MoveForecaster().forecast({ frame, features }, day, fitOf({ frame, features }, last, 1))).toBeNull();
    expect(() => new MoveForecaster().forecast({ frame, features }, last + 1, fitOf({ frame, features }, last, 1))).toThrow(/outside/);
  });
});

describe('the references of a day', () => {
  const { firstDay, close: closes } = syntheticFrame({ rows: 2400, firstDay: parseDay('2012-01-01') });
  const priceUsd = 1.03 * closes[2350]!;
  const day = firstDay + 2350;
  const later = closes.map((close, row) => (row < 2350 ? close : Number.NaN));

  it.each(HORIZONS)('are of the closes before it and the price at its forecast, at %i days', (horizonDays) => {
    const known = Float64Array.of(...closes.subarray(0, 2350), priceUsd);
    const v94 = computeVariance(known, 0.94);
    const fit = fitReferences({ firstDay, closes: known }, v94, getBlockIndex(day), horizonDays)!;
    const expected = { frequency: fit.frequency, ewma: forecastByEwma(fit, v94[2350]!, horizonDays), garch: null };
    for (const history of [closes, later, closes.slice(0, 2350)]) {
      expect(createMoveReferences()({ closes: { firstDay, closes: history }, day, priceUsd, horizonDays, garch: null })).toEqual(expected);
    }
  });

  it('follow from the closes of the call, not from those of an earlier one', () => {
    const compute = createMoveReferences();
    const of = (history: Float64Array) => compute({ closes: { firstDay, closes: history }, day, priceUsd, horizonDays: 1, garch: null });
    const before = of(closes);
    expect(of(closes.with(2340, 1.2 * closes[2340]!)).ewma).not.toBe(before.ewma);
    expect(of(closes)).toEqual(before);
  });

  it('are unknown without closes of the training days', () => {
    for (const row of [0, 1, 30, 31]) {
      const early = { closes: { firstDay, closes }, day: firstDay + row, priceUsd, horizonDays: 7 as const, garch: null };
      expect(createMoveReferences()(early)).toEqual({ frequency: null, ewma: null, garch: null });
    }
  });
});

describe('a big move', () => {
  const grid = Float64Array.from({ length: 199 }, (_, index) => (index - 99) / 1000);

  it('has the probability of both tails, wherever the quantiles are', () => {
    expect(computeBigMoveProbability(grid, 0.05)).toBeCloseTo(0.5, 6);
    for (const shift of [-0.04, 0.013, 0.2]) {
      expect(
        computeBigMoveProbability(
          grid.map((value) => value + shift),
          0.05,
        ),
      ).toBeCloseTo(0.5, 6);
    }
  });

  it('is scored within -1 to 1 against a reference, at a bound for the outcome that tells most', () => {
    for (const [pBig, reference] of [
      [0.3, 0.2],
      [0.1, 0.6],
      [1, 0],
      [0, 1],
      [0.9, 0.8],
    ] as const) {
      const differences = [true, false].map((big) => computeMoveDifference(pBig, reference, big));
      expect(Math.max(...differences.map(Math.abs))).toBeCloseTo(1, 9);
      expect(differences[0]! * differences[1]!).toBeLessThanOrEqual(0);
    }
    expect(computeMoveDifference(0.4, 0.4, true)).toBe(0);
  });
});
