import { describe, expect, it } from 'vitest';
import { compareSizings, computeFigures, MEAN_SIZE, simulate } from '../../../../src/forecast/backtest/sizing.ts';
import { parseDay } from '../../../../src/forecast/day.ts';
import { describeGolden, readGoldenFrame } from '../golden-frame.ts';
import { syntheticFrame } from '../synthetic-frame.ts';

const rowsOf = (...rows: number[]) => Uint32Array.from(rows);

describe('a holder', () => {
  it('gains the size of the day times its return, and pays for what is traded, the drift of the price included', () => {
    const { returns, traded } = simulate([0.5, 0.5, 0.2], [0.1, 0, -0.1], 0.01);
    const first = 0.5 * 0.1 - 0.01 * 0.5;
    const drift = (0.5 * 1.1) / (1 + first) - 0.5;
    const third = Math.abs(0.2 - 0.5 / (1 - 0.01 * drift));
    expect(returns[0]).toBeCloseTo(first, 15);
    expect(returns[1]).toBeCloseTo(-0.01 * drift, 15);
    expect(returns[2]).toBeCloseTo(0.2 * -0.1 - 0.01 * third, 15);
    expect(traded).toBeCloseTo(0.5 + drift + third, 15);
  });

  it('trades nothing more after the first day with all of the capital', () => {
    expect(simulate([1, 1, 1], [0.1, -0.5, 0.3], 0).traded).toBeCloseTo(1, 15);
  });

  it('has the drawdown of the days in their order, and the volatility of 30 of them', () => {
    const path = { returns: Float64Array.of(0.1, -0.5, 0.2), volatilities: Float64Array.of(Number.NaN, 0.2, 0.4) };
    expect(computeFigures(path, rowsOf(0, 1, 2)).drawdown).toBeCloseTo(0.5, 15);
    const { drawdown, meanReturn, volatility, volatilityDeviation, sharpe } = computeFigures(path, rowsOf(1, 1, 0));
    expect(drawdown).toBeCloseTo(0.75, 15);
    expect(meanReturn).toBeCloseTo(-0.3 * 365.25, 12);
    expect(volatility).toBeCloseTo(Math.sqrt(0.12 * 365.25), 12);
    expect(volatilityDeviation).toBe(0);
    expect(sharpe).toBeCloseTo(meanReturn / volatility, 12);
    const { volatilities } = simulate(
      new Float64Array(31).fill(1),
      Float64Array.from({ length: 31 }, (_, day) => (day % 2 ? 0.01 : -0.01)),
      0,
    );
    expect(volatilities[28]).toBeNaN();
    expect(volatilities[30]).toBeCloseTo(Math.sqrt((0.0001 * 365.25 * 30) / 29), 12);
  });
});

it('a history without a complete fold compares nothing', () => {
  expect(compareSizings(syntheticFrame({ rows: 900, firstDay: parseDay('2012-01-01') }))).toBeNull();
});

describeGolden('sizes on recorded history', () => {
  const { days, byCost } = compareSizings(readGoldenFrame())!;
  const [free, paid] = byCost.map(({ sizings, differences }) => ({ sizings, constant: differences[0]!, ewma: differences[1]! }));

  it('by the width lower the volatility and steady it, against both references', () => {
    expect(days).toBe(3420);
    expect(free!.sizings.map(({ volatility }) => (100 * volatility).toFixed(2))).toEqual(['13.92', '16.97', '14.72']);
    expect(free!.constant.volatility.high).toBeLessThan(0);
    expect(free!.constant.volatilityDeviation.high).toBeLessThan(0);
    expect(free!.ewma.volatility.high).toBeLessThan(0);
  });

  it('by the width raise neither return nor Sharpe ratio, and cost return where each change is paid', () => {
    expect(free!.constant.sharpe.low).toBeLessThan(0);
    expect(free!.constant.sharpe.high).toBeGreaterThan(0);
    expect(free!.constant.meanReturn.value).toBeLessThan(0);
    expect(paid!.constant.meanReturn.high).toBeLessThan(0);
  });

  it('have the same mean and need no credit', () => {
    for (const { largestSize } of free!.sizings) expect(largestSize).toBeLessThan(1);
    expect(free!.sizings[1]!.largestSize).toBeCloseTo(MEAN_SIZE, 12);
  });
});
