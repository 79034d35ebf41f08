import { expect, it } from 'vitest';
import { computeOutOfSampleFolds } from '../../../../../src/forecast/backtest/out-of-sample.ts';
import { computeQuantileSkills } from '../../../../../src/forecast/backtest/walk-forward.ts';
import { computeResidualQuantiles, computeScale, quantile } from '../../../../../src/forecast/distribution.ts';
import { computeFeatures } from '../../../../../src/forecast/features.ts';
import { syntheticFrame } from '../../synthetic-frame.ts';

it('compares the pinball loss of a quantile with that of the same quantile of all training returns', () => {
  const frame = syntheticFrame({ rows: 1700 });
  const features = computeFeatures(frame);
  const history = { closes: frame.close, features };
  const folds = computeOutOfSampleFolds(history, 3);
  const day = (row: number) => Math.log(frame.close[row + 3] / frame.close[row]);
  const losses = folds.flatMap(({ model, days }) => {
    const first = model.trainFrom - frame.firstDay;
    const returns = Float64Array.from({ length: model.nTrain }, (_, index) => day(first + index));
    // The 190th of 199 quantiles is that of 95 %.
    const usual = computeResidualQuantiles(returns)[189];
    return days.map(({ row, pUp }) => {
      const scale = computeScale(features.v94[row], features.v99[row], 3);
      const shift = quantile({ scale: 1, shift: 0, residualQuantiles: model.residualQuantiles }, 1 - pUp);
      const said = scale * (model.residualQuantiles[189] - shift);
      return [said, usual].map((level) => Math.max(0.95 * (day(row) - level), 0.05 * (level - day(row))));
    });
  });
  const [ours, theirs] = [0, 1].map((side) => losses.reduce((sum, loss) => sum + loss[side], 0) / losses.length);
  const skill = computeQuantileSkills(folds).find(({ level }) => level === 0.95)!;
  expect(skill.ours).toBeCloseTo(ours, 12);
  expect(skill.theirs).toBeCloseTo(theirs, 12);
  expect(skill.value).toBeCloseTo(1 - ours / theirs, 12);
  expect(skill.low!).toBeLessThan(skill.value);
  expect(skill.high!).toBeGreaterThan(skill.value);
});
