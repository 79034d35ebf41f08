import type { FeatureTable } from '../features/feature-table.ts';

/** What a regime rests on, in words. */
export interface RegimeFactors {
  trendPosition: string;
  momentum: string;
  sentiment: string;
  volatility: string;
}

/** The four factors of one row, as short phrases with their figures; says so where an input is missing. */
export function describeRegimeFactors(table: FeatureTable, row: number): RegimeFactors {
  return {
    trendPosition: describeTrendPosition(table.gap200[row]),
    momentum: describeMomentum(table.ret30[row]),
    sentiment: describeSentiment(table.fg7[row]),
    volatility: describeVolatility(table.vratio[row]),
  };
}

function describeTrendPosition(gap: number): string {
  if (Number.isNaN(gap)) return 'unknown: fewer than 200 days of prices';
  return `${formatMagnitude(Math.abs(Math.expm1(gap)))} ${gap < 0 ? 'below' : 'above'} the 200-day average`;
}

function describeMomentum(ret30: number): string {
  if (Number.isNaN(ret30)) return 'unknown: fewer than 30 days of prices';
  return `${ret30 < 0 ? '-' : '+'}${formatMagnitude(Math.abs(Math.expm1(ret30)))} in 30 days`;
}

function describeSentiment(fearGreed: number): string {
  if (Number.isNaN(fearGreed)) return 'unknown: no fresh Fear & Greed readings';
  const reading = Math.round(fearGreed);
  return `${toSentimentName(reading)} (Fear & Greed ${reading}, 7-day mean)`;
}

/** The bands alternative.me names its readings by. */
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

function formatMagnitude(fraction: number): string {
  return `${(fraction * 100).toFixed(1)} %`;
}
