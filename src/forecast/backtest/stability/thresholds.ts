import { REGIME_NAMES, REGIME_THRESHOLDS, REGIMES, type Regime, type RegimeThresholds } from '../../regime/regime.ts';

/** Every threshold of a signal: limits of the regime rules, and each regime's distance of P(up) from one half. */
export interface DecisionThresholds {
  limits: RegimeThresholds;
  thetas: Record<Regime, number>;
}

export const DECISION_THRESHOLDS: DecisionThresholds = {
  limits: REGIME_THRESHOLDS,
  thetas: Object.fromEntries(REGIME_NAMES.map((regime) => [regime, REGIMES[regime].theta])) as Record<Regime, number>,
};

/** Names: limits by their own, thetas as `theta.<regime>`. */
export const THRESHOLD_NAMES: readonly string[] = [
  ...Object.keys(DECISION_THRESHOLDS.limits),
  ...Object.keys(DECISION_THRESHOLDS.thetas).map(toThetaName),
];

export function getThresholdValue(name: string): number {
  const values: Record<string, number> = { ...DECISION_THRESHOLDS.limits, ...toNamedThetas(DECISION_THRESHOLDS.thetas) };
  return values[name];
}

export function scaleThresholds(factorOf: (name: string) => number): DecisionThresholds {
  return {
    limits: scaleValues(DECISION_THRESHOLDS.limits, factorOf),
    thetas: scaleValues(DECISION_THRESHOLDS.thetas, (regime) => factorOf(toThetaName(regime))),
  };
}

function scaleValues<T extends object>(values: T, factorOf: (name: string) => number): T {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value * factorOf(name)])) as T;
}

function toNamedThetas(thetas: Record<Regime, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(thetas).map(([regime, theta]) => [toThetaName(regime), theta]));
}

function toThetaName(regime: string): string {
  return `theta.${regime}`;
}
