import { REGIME_THRESHOLDS, type Regime } from './regime.ts';

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
