import type { FeatureTable } from '../features/feature-table.ts';
import { formatPercent } from '../math/format-percent.ts';

export type RegimeFactors = ReturnType<typeof describeRegimeFactors>;

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
  return `${toSentimentName(reading)} (Fear & Greed ${reading}, 7-day mean)`;
}

/** Bands of alternative.me. */
function toSentimentName(reading: number): string {
  if (reading <= 25) return 'extreme fear';
  if (reading <= 46) return 'fear';
  if (reading <= 54) return 'neutral';
  return reading <= 75 ? 'greed' : 'extreme greed';
}

function describeVolatility(ratio: number): string {
  if (Number.isNaN(ratio)) return 'unknown: fewer than 210 days of prices';
  return `${ratio.toFixed(2)} times its one-year median`;
}
