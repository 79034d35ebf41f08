import { signalOf } from '../../signal.ts';
import type { DayOfHistory, Pipeline, SaidOfDay } from '../pipeline.ts';

type Forecast = Pipeline['forecast'];

/** Ways to forecast a day that look at the end of its window, as far as the history goes. */
export const FORECAST_MUTANTS: readonly { what: string; needsChange: boolean; broken: (forecast: Forecast) => Forecast }[] = [
  {
    what: "the distribution is as wide as the volatility at the window's end says",
    needsChange: false,
    broken: lookingAhead((said, later) => ({ ...said, distribution: { ...said.distribution, scale: later.distribution.scale } })),
  },
  {
    what: "regime and threshold are those of the window's end",
    needsChange: true,
    broken: lookingAhead((said, { regime, threshold }) => ({ ...said, regime, threshold, signal: signalOf(said.pUp, threshold) })),
  },
  {
    what: "P(up) is made from the scores of the window's end",
    needsChange: false,
    broken: lookingAhead((said, { pUp }) => ({ ...said, pUp, signal: signalOf(pUp, said.threshold) })),
  },
];

function lookingAhead(mixed: (said: SaidOfDay, later: SaidOfDay) => SaidOfDay): (forecast: Forecast) => Forecast {
  return (forecast) => (day) => mixed(forecast(day), forecast({ ...day, row: windowEnd(day) }));
}

function windowEnd({ model, features, row }: DayOfHistory): number {
  return Math.min(row + model.horizonDays, features.length - 1);
}
