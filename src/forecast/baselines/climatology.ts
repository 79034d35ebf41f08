import { computeResidualQuantiles } from '../distribution.ts';
import { type HorizonDays, RESIDUAL_DAYS } from '../model.ts';
import { type BaselineForecast, type BaselineHistory, defineBaseline, getTrainingEndRow } from './baseline.ts';

/** The h-day log returns of the last four years of training: what the recent past alone says. */
export const CLIMATOLOGY = defineBaseline({
  name: 'climatology' as const,
  title: 'Climatology, recent four years',
  method: `quantiles of the ${RESIDUAL_DAYS.toLocaleString('en-US')} last h-day returns before purge and embargo`,
  fitBlock: fitClimatology,
});

function fitClimatology(history: BaselineHistory, block: number, horizonDays: HorizonDays): () => BaselineForecast {
  const { closes } = history;
  const to = Math.min(getTrainingEndRow(history, block, horizonDays), closes.length - horizonDays);
  const from = Math.max(0, to - RESIDUAL_DAYS);
  const returns = new Float64Array(Math.max(0, to - from));
  for (let index = 0; index < returns.length; index++) returns[index] = Math.log(closes[from + index + horizonDays] / closes[from + index]);
  const grid = Float64Array.from(computeResidualQuantiles(returns));
  return () => () => grid.slice();
}
