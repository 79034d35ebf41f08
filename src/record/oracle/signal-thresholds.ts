import { REGIME_NAMES, REGIMES } from '../../forecast/regime/regime.ts';
import { roundTo } from '../../platform/round.ts';
import type { MadeForecast } from './made-forecast.ts';

/** The thresholds of a forecast and of all regimes: a signal is BUY or SELL where P(up) is at least `theta` away from one half. */
export function describeThresholds({ regime, values: { threshold: theta } }: MadeForecast) {
  return {
    regime,
    theta,
    buyFrom: roundTo(0.5 + theta, 4),
    sellUpTo: roundTo(0.5 - theta, 4),
    regimes: REGIME_NAMES.map((name) => {
      const { theta: own, riskLevel, daysToEnter } = REGIMES[name];
      return { regime: name, theta: own, riskLevel, daysToEnter };
    }),
  };
}
