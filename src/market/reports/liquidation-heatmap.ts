import { type LiquidationBucket, liquidationBuckets } from './liquidation-buckets.ts';
import { type LiquidationEstimate, type LiquidationRules, liquidationLevels } from './liquidation-levels.ts';
import { rounded } from './numbers.ts';
import type { MarketReport } from './report.ts';

const RULES: LiquidationRules = {
  entryDays: 30,
  halfLifeDays: 7,
  maintenanceMargin: 0.005,
  leverages: [
    { leverage: 5, share: 0.3 },
    { leverage: 10, share: 0.3 },
    { leverage: 25, share: 0.2 },
    { leverage: 50, share: 0.12 },
    { leverage: 100, share: 0.08 },
  ],
};
const GRID = { stepPct: 1, rangePct: 25 };

const METHOD = [
  'An estimate: no exchange publishes the positions of its traders.',
  `Half of the open interest counts as longs, half as shorts, entered at the last ${RULES.entryDays} daily closes;`,
  `an entry ${RULES.halfLifeDays} days older weighs half.`,
  `Leverage: ${RULES.leverages.map(({ leverage, share }) => `${leverage}x ${Math.round(share * 100)} %`).join(', ')}.`,
  `A position is liquidated at entry * (1 -/+ (1 / leverage - ${RULES.maintenanceMargin})).`,
  'Levels that a later daily close or the current price has reached are left out; moves within a day are not seen.',
].join(' ');

export const liquidationHeatmap: MarketReport = {
  path: '/api/liquidation-heatmap',
  summary: 'An estimate of where leveraged positions would be liquidated, around the current price',
  dependsOn: ['spot', 'openInterest', 'btcClose'],
  async build({ spot, read }) {
    const { priceUsd } = await spot();
    const openInterestUsd = (await read('openInterest')).reading.value;
    const closes = (await read('btcClose')).known.values;
    const common = { estimate: true, method: METHOD, assumptions: { ...RULES, ...GRID }, price: rounded(priceUsd, 2) };
    if (openInterestUsd === null || closes.length === 0) return { ...common, ...nothing(openInterestUsd) };
    const estimate = liquidationLevels(openInterestUsd, closes, priceUsd, RULES);
    return { ...common, reason: null, openInterestUsd: rounded(openInterestUsd, 0), ...mapped(estimate, priceUsd) };
  },
};

function mapped({ levels, clearedUsd }: LiquidationEstimate, spotUsd: number) {
  const of = (side: 'long' | 'short') => levels.filter((level) => level.side === side);
  const longs = liquidationBuckets(of('long'), spotUsd, { ...GRID, direction: -1 });
  const shorts = liquidationBuckets(of('short'), spotUsd, { ...GRID, direction: 1 });
  const ahead = levels.reduce((sum, { usd }) => sum + usd, 0);
  return {
    openInterestLeftUsd: Math.floor(ahead),
    alreadyReachedUsd: rounded(clearedUsd, 0),
    longLiquidationsUsd: totalOf(longs),
    shortLiquidationsUsd: totalOf(shorts),
    longs,
    shorts,
  };
}

function totalOf(buckets: LiquidationBucket[]): number {
  return buckets.at(-1)?.cumulativeUsd ?? 0;
}

function nothing(openInterestUsd: number | null) {
  return {
    reason: openInterestUsd === null ? 'The open interest is not known' : 'No daily close is known',
    openInterestUsd: rounded(openInterestUsd, 0),
    openInterestLeftUsd: null,
    alreadyReachedUsd: null,
    longLiquidationsUsd: null,
    shortLiquidationsUsd: null,
    longs: [],
    shorts: [],
  };
}
