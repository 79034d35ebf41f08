import { toSignal } from '../../signal.ts';
import type { HistoryForecast, Pipeline } from '../pipeline.ts';

type Forecast = Pipeline['forecast'];

/** Forecasts that read the end of the window, as far as the history reaches. */
export const FORECAST_MUTANTS: readonly { what: string; needsChange: boolean; broken: (forecast: Forecast) => Forecast }[] = [
  {
    what: 'the distribution has the volatility at the end of the window',
    needsChange: false,
    broken: withLookahead((forecastToday, later) => ({
      ...forecastToday,
      distribution: { ...forecastToday.distribution, scale: later.distribution.scale },
    })),
  },
  {
    what: 'regime and threshold are those at the end of the window',
    needsChange: true,
    broken: withLookahead((forecastToday, { regime, threshold }) => {
      return { ...forecastToday, regime, threshold, signal: toSignal(forecastToday.pUp, threshold) };
    }),
  },
  {
    what: 'P(up) is computed from the scores at the end of the window',
    needsChange: false,
    broken: withLookahead((forecastToday, { pUp }) => ({ ...forecastToday, pUp, signal: toSignal(pUp, forecastToday.threshold) })),
  },
];

function withLookahead(mix: (forecastToday: HistoryForecast, later: HistoryForecast) => HistoryForecast): (forecast: Forecast) => Forecast {
  return (forecast) => (day) => {
    const windowEnd = Math.min(day.row + day.model.horizonDays, day.features.length - 1);
    return mix(forecast(day), forecast({ ...day, row: windowEnd }));
  };
}
