import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../src/forecast/day.ts';
import { toQuantileGrid } from '../../../src/forecast/distribution.ts';
import { computeFeatures } from '../../../src/forecast/features.ts';
import { getBlockIndex } from '../../../src/forecast/model.ts';
import { fitWidths } from '../../../src/forecast/models.ts';
import { computePositionSize, SIZING_FORMULA } from '../../../src/forecast/move.ts';
import { MOVE_MODEL } from '../../../src/forecast/move-forecaster.ts';
import { syntheticFrame } from './synthetic-frame.ts';

describe('the size of a position', () => {
  it('loses the risk at the stop, whichever side it is on', () => {
    const size = computePositionSize({ riskPercent: 1, accountUsd: 10_000 }, { width90: 2 * Math.log(1.25), btcPrice: 50_000 });
    expect(size).toEqual({
      riskPercent: 1,
      accountUsd: 10_000,
      riskUsd: 100,
      stopPercentLong: 20,
      stopPercentShort: 25,
      positionUsdLong: 500,
      positionUsdShort: 400,
      positionBtcLong: 0.01,
      positionBtcShort: 0.008,
      leverageLong: 0.05,
      leverageShort: 0.04,
      exceedsAccount: false,
      formula: SIZING_FORMULA,
    });
    expect(SIZING_FORMULA).toMatch(/No advice to trade\.$/);
  });

  it.each([0.001, 0.03, 0.2, 0.9])('has its stop half of a width of %d away', (width90) => {
    for (const riskPercent of [0.01, 1, 7.5, 100]) {
      const { riskUsd, ...size } = computePositionSize({ riskPercent, accountUsd: 123_456 }, { width90, btcPrice: 64_321.5 });
      expect(Math.log1p(-size.stopPercentLong / 100)).toBeCloseTo(-width90 / 2, 5);
      expect(Math.log1p(size.stopPercentShort / 100)).toBeCloseTo(width90 / 2, 5);
      expect(size.positionUsdLong / ((100 * riskUsd) / size.stopPercentLong)).toBeCloseTo(1, 2);
      expect(size.positionUsdShort / ((100 * riskUsd) / size.stopPercentShort)).toBeCloseTo(1, 2);
      expect(size.positionBtcLong * 64_321.5).toBeCloseTo(size.positionUsdLong, 1);
      expect(size.exceedsAccount).toBe(size.positionUsdLong > 123_456);
    }
  });

  it('is not capped at the account, and says so', () => {
    const size = computePositionSize({ riskPercent: 5, accountUsd: 1_000 }, { width90: 0.05, btcPrice: 50_000 });
    expect(size).toMatchObject({ exceedsAccount: true, leverageLong: 2.0251, positionUsdLong: 2025.1 });
  });

  it('is the same at every P(up)', () => {
    const frame = syntheticFrame({ rows: 2400, firstDay: parseDay('2012-01-01') });
    const features = computeFeatures(frame);
    const row = features.length - 1;
    const fit = fitWidths({ closes: frame.close, features }, getBlockIndex(frame.firstDay + row), 1)!;
    const sizes = [0.01, 0.3, 0.5, 0.57, 0.99].map((pUp) => {
      const grid = toQuantileGrid(MOVE_MODEL.buildDistribution(fit, { features, row, pUp }));
      const width90 = Number((grid[189]! - grid[9]!).toFixed(8));
      return computePositionSize({ riskPercent: 2, accountUsd: 50_000 }, { width90, btcPrice: 40_000 });
    });
    for (const size of sizes) expect(size).toEqual(sizes[0]);
  });
});
