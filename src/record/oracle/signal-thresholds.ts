import { REGIME_NAMES, REGIMES, type Regime, type RiskLevel } from '../../forecast/regime/regime.ts';
import type { MadeForecast } from './made-forecast.ts';

export interface RegimeThreshold {
  regime: Regime;
  theta: number;
  riskLevel: RiskLevel;
  daysToEnter: number;
}

/** Where BUY and SELL begin: P(up) at least `theta` away from one half. */
export interface SignalThresholds {
  regime: Regime;
  theta: number;
  buyFrom: number;
  sellUpTo: number;
  regimes: RegimeThreshold[];
}

/** The thresholds that a forecast was made under, and those of all regimes. */
export function describeThresholds({ regime, values: { threshold: theta } }: MadeForecast): SignalThresholds {
  return {
    regime,
    theta,
    buyFrom: roundThreshold(0.5 + theta),
    sellUpTo: roundThreshold(0.5 - theta),
    regimes: REGIME_NAMES.map(describeRegimeThreshold),
  };
}

function describeRegimeThreshold(regime: Regime): RegimeThreshold {
  const { theta, riskLevel, daysToEnter } = REGIMES[regime];
  return { regime, theta, riskLevel, daysToEnter };
}

/** Without the dust of binary fractions. */
function roundThreshold(probability: number): number {
  return Math.round(probability * 10_000) / 10_000;
}
