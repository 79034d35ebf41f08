import { describe, expect, it } from 'vitest';
import { compareHorizons, computeOutOfSampleFolds } from '../../../../src/forecast/backtest/out-of-sample.ts';
import { computeFeatures } from '../../../../src/forecast/features.ts';
import { sliceFrame } from '../../../../src/forecast/inputs.ts';
import { simulatedFrame } from './simulated-frame.ts';

const frame = await simulatedFrame();
/** As many rows as the first fold takes, and some more. */
const ROWS = 3_000;
const cut = sliceFrame(frame, frame.firstDay + ROWS - 1);
const history = { closes: cut.close, features: computeFeatures(cut) };

describe('horizon agreement', () => {
  const report = compareHorizons(history);
  const [twoDays, sevenDays] = ([2, 7] as const).map((horizon) => computeOutOfSampleFolds(history, horizon).flatMap(({ days }) => days));

  it('counts days with forecasts of both horizons', () => {
    expect(report.map(({ horizon, longest }) => [horizon, longest])).toEqual([
      ['1d', '7d'],
      ['2d', '7d'],
      ['3d', '7d'],
    ]);
    const days = sevenDays.filter(({ day }) => twoDays.some((one) => one.day === day));
    const same = days.filter(({ day, signal }) => twoDays.find((one) => one.day === day)!.signal === signal);
    expect(days.length).toBeGreaterThan(100);
    expect(report[1]).toMatchObject({ n: days.length, sameSignal: same.length / days.length });
    const calls = days.filter(({ signal }) => signal !== 'HOLD').length / days.length;
    expect(report[1].mostFrequentSignal).toBeGreaterThanOrEqual(Math.max(calls, 1 - calls) / 2);
  });

  it('returns shares, and a correlation unless constant', () => {
    for (const { sameDirection, sameSignal, mostFrequentDirection, mostFrequentSignal, correlation } of report) {
      for (const share of [sameDirection, sameSignal, mostFrequentDirection, mostFrequentSignal]) {
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share).toBeLessThanOrEqual(1);
      }
      expect(mostFrequentDirection).toBeGreaterThanOrEqual(0.5);
      expect(Math.abs(correlation!)).toBeLessThan(1);
    }
  });

  it('is empty without a fold', () => {
    const short = sliceFrame(frame, frame.firstDay + 800);
    expect(compareHorizons({ closes: short.close, features: computeFeatures(short) })).toEqual([]);
  });
});
