import type { FeatureTable } from './inputs.ts';
import { formatPercent } from './math.ts';

export const REGIME_NAMES = ['CRISIS', 'EUPHORIA', 'CHOP', 'BEAR_RECOVERY', 'BEAR_TREND', 'BULL_TREND', 'DEFAULT'] as const;
export type Regime = (typeof REGIME_NAMES)[number];
/** In ascending order. */
export const RISK_LEVELS = ['Low', 'Moderate', 'Elevated', 'High', 'Extreme'] as const;
type RiskLevel = (typeof RISK_LEVELS)[number];

interface RegimeInfo {
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
  const isSideways = Math.abs(gap) <= limits.chopGap && Math.abs(ret30) <= limits.chopRet30;
  if (isSideways && table.vratio[row] <= limits.chopVolatilityRatio) return 'CHOP';
  if ((gap < 0 || cross < 0) && gap50 > 0 && ret30 >= limits.recoveryRet30) return 'BEAR_RECOVERY';
  if (gap <= limits.bearGap && gap50 <= 0) return 'BEAR_TREND';
  if (gap >= limits.bullGap && cross > 0 && ret30 >= limits.bullRet30) return 'BULL_TREND';
  return 'DEFAULT';
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

const limits = REGIME_THRESHOLDS;

export const REGIME_RULE_TERMS =
  'g, g5 = ln(price / its 200-day, 50-day average); c = ln(50-day / 200-day average); r7, r30 = log return over 7, 30 days; fg7 = 7-day mean of Fear & Greed; v = volatility over its one-year median';

/** Rules with the limits in force, in order of evaluation; the first that holds applies. */
export const REGIME_RULES: Readonly<Record<Regime, string>> = {
  CRISIS: `r7 <= ${limits.crisisRet7} or r30 <= ${limits.crisisRet30}`,
  EUPHORIA: `(g >= ${limits.euphoriaGap} and fg7 >= ${limits.euphoriaFearGreed}) or (g >= ${limits.euphoriaFarGap} and r30 >= ${limits.euphoriaRet30})`,
  CHOP: `abs(g) <= ${limits.chopGap}, abs(r30) <= ${limits.chopRet30}, v <= ${limits.chopVolatilityRatio}`,
  BEAR_RECOVERY: `(g < 0 or c < 0), g5 > 0, r30 >= ${limits.recoveryRet30}`,
  BEAR_TREND: `g <= ${limits.bearGap}, g5 <= 0`,
  BULL_TREND: `g >= ${limits.bullGap}, c > 0, r30 >= ${limits.bullRet30}`,
  DEFAULT: 'otherwise, and where g or v is not known',
};

/** Formats the four factors of one row with their figures; `unknown: …` where an input is missing. */
export function describeRegimeFactors(table: FeatureTable, row: number) {
  return {
    trendPosition: describeTrendPosition(table.gap200[row]),
    momentum: describeMomentum(table.ret30[row]),
    sentiment: describeSentiment(table.fg7[row]),
    volatility: describeVolatility(table.vratio[row]),
  };
}

function describeTrendPosition(gap: number): string {
  if (Number.isNaN(gap)) return 'unknown: fewer than 200 days of prices';
  return `${formatPercent(Math.abs(Math.expm1(gap)))} ${gap < 0 ? 'below' : 'above'} the 200-day average`;
}

function describeMomentum(ret30: number): string {
  if (Number.isNaN(ret30)) return 'unknown: fewer than 30 days of prices';
  return `${ret30 < 0 ? '-' : '+'}${formatPercent(Math.abs(Math.expm1(ret30)))} in 30 days`;
}

function describeSentiment(fearGreed: number): string {
  if (Number.isNaN(fearGreed)) return 'unknown: no fresh Fear & Greed readings';
  const reading = Math.round(fearGreed);
  return `${getFearGreedLabel(reading).toLowerCase()} (Fear & Greed ${reading}, 7-day mean)`;
}

export const FEAR_GREED_LABELS = ['Extreme Fear', 'Fear', 'Neutral', 'Greed', 'Extreme Greed'] as const;
export type FearGreedLabel = (typeof FEAR_GREED_LABELS)[number];

/** The bands of alternative.me's own classification: 0-25, 26-46, 47-54, 55-75, 76-100. */
export function getFearGreedLabel(value: number): FearGreedLabel {
  if (value <= 25) return 'Extreme Fear';
  if (value <= 46) return 'Fear';
  if (value <= 54) return 'Neutral';
  return value <= 75 ? 'Greed' : 'Extreme Greed';
}

function describeVolatility(ratio: number): string {
  if (Number.isNaN(ratio)) return 'unknown: fewer than 210 days of prices';
  return `${ratio.toFixed(2)} times its one-year median`;
}
