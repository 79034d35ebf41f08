import type { FeatureTable } from '../features/feature-table.ts';

export const REGIME_NAMES = ['CRISIS', 'EUPHORIA', 'CHOP', 'BEAR_RECOVERY', 'BEAR_TREND', 'BULL_TREND', 'DEFAULT'] as const;
export type Regime = (typeof REGIME_NAMES)[number];
/** In ascending order. */
export const RISK_LEVELS = ['Low', 'Moderate', 'Elevated', 'High', 'Extreme'] as const;
export type RiskLevel = (typeof RISK_LEVELS)[number];

export interface RegimeInfo {
  /** Minimum distance of P(up) from one half for BUY or SELL. */
  theta: number;
  riskLevel: RiskLevel;
  description: string;
  /** Consecutive days that the rule must hold to enter the regime. */
  daysToEnter: number;
}

export const REGIMES: Record<Regime, RegimeInfo> = {
  CRISIS: {
    theta: 0.06,
    riskLevel: 'Extreme',
    daysToEnter: 1,
    description: 'Bitcoin has fallen by about a fifth in a week or a third in a month, with unusually high volatility.',
  },
  EUPHORIA: {
    theta: 0.05,
    riskLevel: 'Elevated',
    daysToEnter: 2,
    description: 'Bitcoin trades far above its 200-day average while greed or the pace of the rise is extreme.',
  },
  CHOP: {
    theta: 0.06,
    riskLevel: 'Moderate',
    daysToEnter: 3,
    description: 'Bitcoin moves sideways around its 200-day average without unusual volatility.',
  },
  BEAR_RECOVERY: {
    theta: 0.04,
    riskLevel: 'Elevated',
    daysToEnter: 3,
    description: 'Bitcoin is climbing back above its 50-day average while the long trend still points down.',
  },
  BEAR_TREND: {
    theta: 0.04,
    riskLevel: 'High',
    daysToEnter: 3,
    description: 'Bitcoin trades below both its 50-day and its 200-day average.',
  },
  BULL_TREND: {
    theta: 0.03,
    riskLevel: 'Low',
    daysToEnter: 3,
    description: 'Bitcoin trades above its 200-day average, and the 50-day average is above the 200-day one.',
  },
  DEFAULT: {
    theta: 0.05,
    riskLevel: 'Moderate',
    daysToEnter: 3,
    description: 'No other regime applies: the signs are mixed or inputs are missing.',
  },
};

/** Limits of the rules, perturbed by the stability test. Log ratios, except those of Fear & Greed and the volatility ratio. */
export const REGIME_THRESHOLDS = {
  crisisRet7: -0.2,
  crisisRet30: -0.35,
  euphoriaGap: 0.25,
  euphoriaFearGreed: 75,
  euphoriaFarGap: 0.45,
  euphoriaRet30: 0.2,
  bearGap: -0.03,
  recoveryRet30: 0.05,
  bullGap: 0.03,
  bullRet30: -0.05,
  chopGap: 0.1,
  chopRet30: 0.1,
  chopVolatilityRatio: 1.25,
};

export type RegimeThresholds = typeof REGIME_THRESHOLDS;
const CRISIS_MIN_DAYS = 5;

/** The regime of one row before hysteresis; DEFAULT where the long average or volatility is unknown. */
export function classifyRow(table: FeatureTable, row: number, limits: RegimeThresholds = REGIME_THRESHOLDS): Regime {
  const gap = table.gap200[row];
  const gap50 = table.gap50[row];
  const cross = table.cross[row];
  const ret30 = table.ret30[row];
  if (Number.isNaN(gap) || Number.isNaN(table.vratio[row])) return 'DEFAULT';
  if (table.ret7[row] <= limits.crisisRet7 || ret30 <= limits.crisisRet30) return 'CRISIS';
  if (gap >= limits.euphoriaGap && table.fg7[row] >= limits.euphoriaFearGreed) return 'EUPHORIA';
  if (gap >= limits.euphoriaFarGap && ret30 >= limits.euphoriaRet30) return 'EUPHORIA';
  if (isSideways(gap, ret30, table.vratio[row], limits)) return 'CHOP';
  if ((gap < 0 || cross < 0) && gap50 > 0 && ret30 >= limits.recoveryRet30) return 'BEAR_RECOVERY';
  if (gap <= limits.bearGap && gap50 <= 0) return 'BEAR_TREND';
  if (gap >= limits.bullGap && cross > 0 && ret30 >= limits.bullRet30) return 'BULL_TREND';
  return 'DEFAULT';
}

function isSideways(gap: number, ret30: number, volatilityRatio: number, limits: RegimeThresholds): boolean {
  return Math.abs(gap) <= limits.chopGap && Math.abs(ret30) <= limits.chopRet30 && volatilityRatio <= limits.chopVolatilityRatio;
}

/**
 * Regime of every row, with hysteresis: a rule must hold on `daysToEnter` consecutive days, and a crisis lasts at least five, during which
 * its successor's days count.
 */
export function classifyRegimes(table: FeatureTable, limits: RegimeThresholds = REGIME_THRESHOLDS): Regime[] {
  const labels = new Array<Regime>(table.length);
  let current: Regime = 'DEFAULT';
  let since = 0;
  let candidate: Regime = current;
  let days = 0;
  for (let row = 0; row < table.length; row++) {
    const raw = classifyRow(table, row, limits);
    days = raw === candidate ? days + 1 : 1;
    candidate = raw;
    const held = current === 'CRISIS' && row - since < CRISIS_MIN_DAYS;
    if (raw !== current && days >= REGIMES[raw].daysToEnter && !held) {
      current = raw;
      since = row;
    }
    labels[row] = current;
  }
  return labels;
}
