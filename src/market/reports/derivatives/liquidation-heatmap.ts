import { z } from 'zod';
import { COUNT, PROBABILITY } from '../../../platform/validation/fields.ts';
import { roundOrNull, roundTo } from '../../numbers.ts';
import { defineReport } from '../report.ts';
import { buildLiquidationBuckets, type LiquidationBucket } from './liquidation-buckets.ts';
import { estimateLiquidationLevels, type LiquidationEstimate, type LiquidationRules } from './liquidation-levels.ts';

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
const EMPTY_HEATMAP = {
  openInterestLeftUsd: null,
  alreadyReachedUsd: null,
  longLiquidationsUsd: null,
  shortLiquidationsUsd: null,
  longs: [],
  shorts: [],
};

const METHOD = [
  'An estimate: no exchange publishes the positions of its traders.',
  `Half of the open interest counts as longs, half as shorts, entered at the last ${RULES.entryDays} daily closes;`,
  `an entry ${RULES.halfLifeDays} days older weighs half.`,
  `Leverage: ${RULES.leverages.map(({ leverage, share }) => `${leverage}x ${Math.round(share * 100)} %`).join(', ')}.`,
  `A position is liquidated at entry * (1 -/+ (1 / leverage - ${RULES.maintenanceMargin})).`,
  'Levels that a later daily close or the current price has reached are left out; moves within a day are not seen.',
].join(' ');

const ASSUMPTIONS = z.object({
  entryDays: COUNT.describe('How many of the last daily closes count as entries'),
  halfLifeDays: COUNT.describe('An entry of this many days earlier weighs half'),
  maintenanceMargin: PROBABILITY.describe('Part of a position that has to remain, 0 to 1'),
  leverages: z
    .array(
      z.object({
        leverage: z.number().describe('Position over margin'),
        share: PROBABILITY.describe('Part of the positions, 0 to 1'),
      }),
    )
    .describe('Which part of the positions has which leverage; the shares add up to 1'),
  stepPct: z.number().describe('Width of a bucket, percent of the price'),
  rangePct: z.number().describe('How far the buckets reach, percent of the price'),
});

const BUCKET = z.object({
  fromUsd: z.number().describe('The end that lies nearer to the price, USD'),
  toUsd: z.number().describe('The other end, USD'),
  distancePct: z.number().describe('Distance of `toUsd` from the price, in percent'),
  usd: z.number().describe('What would be liquidated within the bucket, USD'),
  cumulativeUsd: z.number().describe('What would be liquidated from the price to `toUsd`, USD'),
});

const AMOUNT = z.number().nullable();

const FIELDS = z.object({
  estimate: z.literal(true).describe('Always true: no exchange publishes the positions of its traders'),
  method: z.string().describe('How the estimate is made'),
  assumptions: ASSUMPTIONS.describe('The figures of the method'),
  price: z.number().describe('BTC/USD that the distances are measured from'),
  reason: z.string().nullable().describe('Why there is no estimate; null when there is one'),
  openInterestUsd: AMOUNT.describe('Value of all open positions, USD; null when it is not known'),
  openInterestLeftUsd: AMOUNT.describe('What of it is still ahead of the price, USD'),
  alreadyReachedUsd: AMOUNT.describe('What stood at levels that the price has reached since, USD'),
  longLiquidationsUsd: AMOUNT.describe('Longs within the range below the price, USD'),
  shortLiquidationsUsd: AMOUNT.describe('Shorts within the range above the price, USD'),
  longs: z.array(BUCKET).describe('Below the price, the nearest first; empty without an estimate'),
  shorts: z.array(BUCKET).describe('Above the price, the nearest first; empty without an estimate'),
});

export const liquidationHeatmapReport = defineReport({
  path: '/api/liquidation-heatmap',
  summary: 'An estimate of where leveraged positions would be liquidated, around the current price',
  dependsOn: ['spot', 'openInterest', 'btcClose'],
  fields: FIELDS,
  async build({ spot, read }) {
    const { priceUsd } = await spot();
    const openInterestUsd = (await read('openInterest')).reading.value;
    const closes = (await read('btcClose')).known.values;
    const assumptions = { ...RULES, leverages: [...RULES.leverages], ...GRID };
    const price = roundTo(priceUsd, 2);
    const common = { estimate: true as const, method: METHOD, assumptions, price, openInterestUsd: roundOrNull(openInterestUsd, 0) };
    if (openInterestUsd === null) return { ...common, ...EMPTY_HEATMAP, reason: 'The open interest is not known' };
    if (closes.length === 0) return { ...common, ...EMPTY_HEATMAP, reason: 'No daily close is known' };
    return { ...common, reason: null, ...buildHeatmap(estimateLiquidationLevels(openInterestUsd, closes, priceUsd, RULES), priceUsd) };
  },
});

function buildHeatmap({ levels, clearedUsd }: LiquidationEstimate, spotUsd: number) {
  const filterSide = (side: 'long' | 'short') => levels.filter((level) => level.side === side);
  const longs = buildLiquidationBuckets(filterSide('long'), spotUsd, { ...GRID, direction: -1 });
  const shorts = buildLiquidationBuckets(filterSide('short'), spotUsd, { ...GRID, direction: 1 });
  const getTotalUsd = (buckets: LiquidationBucket[]) => buckets.at(-1)?.cumulativeUsd ?? 0;
  return {
    openInterestLeftUsd: Math.floor(levels.reduce((sum, { usd }) => sum + usd, 0)),
    alreadyReachedUsd: roundOrNull(clearedUsd, 0),
    longLiquidationsUsd: getTotalUsd(longs),
    shortLiquidationsUsd: getTotalUsd(shorts),
    longs,
    shorts,
  };
}
