import { REGIME_NAMES, REGIME_THRESHOLDS, REGIMES, type Regime, type RegimeThresholds } from '../../regime.ts';

/** Every limit that a signal depends on: those of the regimes' rules, and how far from one half each regime wants P(up). */
export interface Thresholds {
  limits: RegimeThresholds;
  thetas: Record<Regime, number>;
}

/** Those in force. */
export const THRESHOLDS: Thresholds = {
  limits: REGIME_THRESHOLDS,
  thetas: Object.fromEntries(REGIME_NAMES.map((regime) => [regime, REGIMES[regime].theta])) as Record<Regime, number>,
};

/** Limits by their own name, thetas as `theta.<regime>`. */
export const THRESHOLD_NAMES: readonly string[] = [...Object.keys(THRESHOLDS.limits), ...Object.keys(THRESHOLDS.thetas).map(thetaName)];

/** The value in force of a threshold. */
export function thresholdValue(name: string): number {
  const values: Record<string, number> = { ...THRESHOLDS.limits, ...renamed(THRESHOLDS.thetas) };
  return values[name];
}

/** All thresholds, each times what `factorOf` gives for its name. */
export function scaledThresholds(factorOf: (name: string) => number): Thresholds {
  return {
    limits: scaled(THRESHOLDS.limits, factorOf),
    thetas: scaled(THRESHOLDS.thetas, (regime) => factorOf(thetaName(regime))),
  };
}

function scaled<T extends object>(values: T, factorOf: (name: string) => number): T {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value * factorOf(name)])) as T;
}

function renamed(thetas: Record<Regime, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(thetas).map(([regime, theta]) => [thetaName(regime), theta]));
}

function thetaName(regime: string): string {
  return `theta.${regime}`;
}
