import { normalQuantile } from '../math/normal.ts';
import type { HorizonDays } from '../model.ts';
import { QUANTILE_LEVELS } from '../scoring/quantile-grid.ts';
import { type BaselineForecast, type BaselineHistory, defineBaseline, requireRow } from './baseline.ts';

const NORMAL_GRID = QUANTILE_LEVELS.map(normalQuantile);

/** A random walk without drift whose daily variance is exponentially weighted (RiskMetrics, 1996). */
export const EWMA = defineBaseline({
  name: 'ewma' as const,
  title: 'Random walk, EWMA(.94) variance',
  method: 'normal, mean 0, variance h times the exponentially weighted daily variance of decay .94; nothing is fitted',
  fitBlock: (_history, _block, horizonDays) => (history) => forecastEwma(history, horizonDays),
});

function forecastEwma(history: BaselineHistory, horizonDays: HorizonDays): BaselineForecast {
  return (row) => {
    requireRow(history, row);
    const scale = Math.sqrt(horizonDays * history.features.v94[row]);
    return NORMAL_GRID.map((z) => scale * z);
  };
}
