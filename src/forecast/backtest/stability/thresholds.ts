import { REGIME_NAMES, REGIME_THRESHOLDS, REGIMES, type Regime, type RegimeThresholds } from '../../regime/regime.ts';

/** Every limit that a signal depends on: those of the regimes' rules, and how far from one half each regime wants P(up). */
export interface DecisionThresholds {
  limits: RegimeThresholds;
  thetas: Record<Regime, number>;
}

/** Those in force. */
export const DECISION_THRESHOLDS: DecisionThresholds = {
  limits: REGIME_THRESHOLDS,
  thetas: Object.fromEntries(REGIME_NAMES.map((regime) => [regime, REGIMES[regime].theta])) as Record<Regime, number>,
};

/** Limits by their own name, thetas as `theta.<regime>`. */
export const THRESHOLD_NAMES: readonly string[] = [
  ...Object.keys(DECISION_THRESHOLDS.limits),
  ...Object.keys(DECISION_THRESHOLDS.thetas).map(toThetaName),
];

/** The value in force of a threshold. */
export function getThresholdValue(name: string): number {
  const values: Record<string, number> = { ...DECISION_THRESHOLDS.limits, ...toNamedThetas(DECISION_THRESHOLDS.thetas) };
  return values[name];
}

/** All thresholds, each times what `factorOf` gives for its name. */
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
