import { describe, expect, it } from 'vitest';
import { formatDay, parseDay } from '../../../../src/forecast/day.ts';
import { computeFeatures } from '../../../../src/forecast/features.ts';
import { classifyRegimes, REGIME_NAMES } from '../../../../src/forecast/regime.ts';
import { getSignalTimeMs } from '../../../../src/market/feed.ts';
import { createMarket } from '../../../../src/market/market.ts';
import { DEFAULT_SEED, openSimulatedFeed } from '../../../../src/market/simulated.ts';

const SEEDS = [DEFAULT_SEED, 11, 12, 13, 14, 15, 16, 17];
const LAST = parseDay('2027-12-31');
const FROM = parseDay('2012-01-01');

async function frameOf(seed: number) {
  return (await createMarket(openSimulatedFeed({ seed })).inputs(LAST, getSignalTimeMs(LAST))).frame;
}

const frames = await Promise.all(SEEDS.map(frameOf));

describe('the simulated market', () => {
  it.each(SEEDS.map((seed, index) => [seed, frames[index]] as const))(
    'passes through every regime from 2012 to 2026 (seed %d)',
    (_, frame) => {
      const regimes = classifyRegimes(computeFeatures(frame));
      const seen = new Set(regimes.slice(FROM - frame.firstDay, parseDay('2027-01-01') - frame.firstDay));
      expect([...seen].toSorted()).toEqual(REGIME_NAMES.toSorted());
    },
  );

  it('has most regimes in each recent year of the default seed', () => {
    const regimes = classifyRegimes(computeFeatures(frames[0]));
    for (const year of [2023, 2024, 2025, 2026, 2027]) {
      const days = regimes.filter((_, row) => formatDay(frames[0].firstDay + row).startsWith(`${year}`));
      expect(new Set(days).size, `${year}`).toBeGreaterThanOrEqual(5);
    }
  });

  it('keeps the price within the order of magnitude of the real one', () => {
    const priceOn = (frame: (typeof frames)[number], date: string) => frame.close[parseDay(date) - frame.firstDay];
    for (const frame of frames) {
      expect(priceOn(frame, '2012-01-01')).toBeGreaterThan(1);
      expect(priceOn(frame, '2012-01-01')).toBeLessThan(25);
      const year = frame.close.slice(parseDay('2026-01-01') - frame.firstDay, parseDay('2027-01-01') - frame.firstDay);
      expect(Math.min(...year)).toBeGreaterThan(15_000);
      expect(Math.max(...year)).toBeLessThan(400_000);
    }
    const recent = frames[0].close.slice(parseDay('2025-06-01') - frames[0].firstDay);
    expect(Math.min(...recent)).toBeGreaterThan(50_000);
    expect(Math.max(...recent)).toBeLessThan(150_000);
  });

  it('has volatility clustering and fat tails', () => {
    for (const { close } of frames) {
      const returns = Array.from(close.subarray(1), (price, index) => Math.log(price / close[index]));
      const absolute = returns.map(Math.abs);
      expect(autocorrelation(absolute, 5)).toBeGreaterThan(0.08);
      expect(kurtosis(returns)).toBeGreaterThan(6);
      expect(Math.max(...absolute)).toBeLessThan(0.6);
    }
  });

  it('gives no rule on past prices an edge over always predicting up', () => {
    const rules: ((close: Float64Array, row: number) => boolean)[] = [
      (close, row) => close[row] > close[row - 1],
      (close, row) => close[row] > close[row - 7],
      (close, row) => close[row] > close[row - 30],
      (close, row) => close[row] > close[row - 200],
    ];
    for (const rule of [
      ...rules,
      ...rules.map(
        (follow): (typeof rules)[number] =>
          (close, row) =>
            !follow(close, row),
      ),
    ]) {
      let [right, up, count] = [0, 0, 0];
      for (const frame of frames) {
        for (let row = FROM - frame.firstDay; row + 7 < frame.close.length; row++, count++) {
          const rose = frame.close[row + 7] > frame.close[row];
          if (rose) up++;
          if (rose === rule(frame.close, row)) right++;
        }
      }
      expect(right / count).toBeLessThan(up / count);
    }
  });

  it('has no autocorrelation of daily returns', () => {
    for (const { close } of frames) {
      const returns = Array.from(close.subarray(1), (price, index) => Math.log(price / close[index]));
      for (const lag of [1, 2, 7]) expect(Math.abs(autocorrelation(returns, lag))).toBeLessThan(0.06);
    }
  });
});

function autocorrelation(values: number[], lag: number): number {
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  let [shared, variance] = [0, 0];
  values.forEach((x, i) => {
    variance += (x - mean) ** 2;
    if (i >= lag) shared += (x - mean) * (values[i - lag] - mean);
  });
  return shared / variance;
}

function kurtosis(values: number[]): number {
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  const power = (k: number) => values.reduce((sum, x) => sum + (x - mean) ** k, 0) / values.length;
  return power(4) / power(2) ** 2;
}
