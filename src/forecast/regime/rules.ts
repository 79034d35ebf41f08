import { REGIME_THRESHOLDS, type Regime } from './regime.ts';

const {
  crisisRet7,
  crisisRet30,
  euphoriaGap,
  euphoriaFearGreed,
  euphoriaFarGap,
  euphoriaRet30,
  bearGap,
  recoveryRet30,
  bullGap,
  bullRet30,
  chopGap,
  chopRet30,
  chopVolatilityRatio,
} = REGIME_THRESHOLDS;

/** Symbols of `REGIME_RULES`. */
export const REGIME_RULE_TERMS =
  'g, g5 = ln(price / its 200-day, 50-day average); c = ln(50-day / 200-day average); r7, r30 = log return over 7, 30 days; fg7 = 7-day mean of Fear & Greed; v = volatility over its one-year median';

/** Rules with the limits in force, in order of evaluation; the first that holds applies. */
export const REGIME_RULES: Readonly<Record<Regime, string>> = {
  CRISIS: `r7 <= ${crisisRet7} or r30 <= ${crisisRet30}`,
  EUPHORIA: `(g >= ${euphoriaGap} and fg7 >= ${euphoriaFearGreed}) or (g >= ${euphoriaFarGap} and r30 >= ${euphoriaRet30})`,
  CHOP: `abs(g) <= ${chopGap}, abs(r30) <= ${chopRet30}, v <= ${chopVolatilityRatio}`,
  BEAR_RECOVERY: `(g < 0 or c < 0), g5 > 0, r30 >= ${recoveryRet30}`,
  BEAR_TREND: `g <= ${bearGap}, g5 <= 0`,
  BULL_TREND: `g >= ${bullGap}, c > 0, r30 >= ${bullRet30}`,
  DEFAULT: 'otherwise, and where g or v is not known',
};
