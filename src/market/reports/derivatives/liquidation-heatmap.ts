import { z } from 'zod';
import { roundTo } from '../../../platform/round.ts';
import { COUNT, PROBABILITY } from '../../../platform/validation/fields.ts';
import { roundOrNull } from '../../numbers.ts';
import { defineReport } from '../report.ts';
import { estimateLiquidationLevels, type LiquidationLevel, type LiquidationRules } from './liquidation-levels.ts';

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
  'Levels reached by a later daily close or the current price are excluded; intraday moves are ignored.',
].join(' ');

const LEVERAGE = z.object({
  leverage: z.number().describe('Position over margin'),
  share: PROBABILITY.describe('Share of the positions, 0 to 1'),
});

const ASSUMPTIONS = z.object({
  entryDays: COUNT.describe('Number of last daily closes that count as entries'),
  halfLifeDays: COUNT.describe('Half-life of the weight of an entry, in days'),
  maintenanceMargin: PROBABILITY.describe('Maintenance margin as a fraction of the position, 0 to 1'),
  leverages: z.array(LEVERAGE).describe('Distribution of leverage; the shares sum to 1'),
  stepPct: z.number().describe('Width of a bucket, percent of the price'),
  rangePct: z.number().describe('Range of the buckets, percent of the price'),
});

const BUCKET = z.object({
  fromUsd: z.number().describe('Boundary nearer to the price, USD'),
  toUsd: z.number().describe('The other boundary, USD'),
  distancePct: z.number().describe('Distance of `toUsd` from the price, in percent'),
  usd: z.number().describe('Estimated liquidations within the bucket, USD'),
  cumulativeUsd: z.number().describe('Estimated liquidations from the price to `toUsd`, USD'),
});

const AMOUNT = z.number().nullable();

const FIELDS = z.object({
  estimate: z.literal(true).describe('Always true: no exchange publishes the positions of its traders'),
  method: z.string().describe('Method of the estimate'),
  assumptions: ASSUMPTIONS.describe('Parameters of the method'),
  price: z.number().describe('BTC/USD reference price of the distances'),
  reason: z.string().nullable().describe('Reason for a missing estimate; null otherwise'),
  openInterestUsd: AMOUNT.describe('Value of all open positions, USD; null when unknown'),
  openInterestLeftUsd: AMOUNT.describe('Open interest at levels ahead of the price, USD'),
  alreadyReachedUsd: AMOUNT.describe('Open interest at levels that the price has already reached, USD'),
  longLiquidationsUsd: AMOUNT.describe('Longs within the range below the price, USD'),
  shortLiquidationsUsd: AMOUNT.describe('Shorts within the range above the price, USD'),
  longs: z.array(BUCKET).describe('Below the price, the nearest first; empty without an estimate'),
  shorts: z.array(BUCKET).describe('Above the price, the nearest first; empty without an estimate'),
});

export const liquidationHeatmapReport = defineReport({
  path: '/api/liquidation-heatmap',
  summary: 'Estimated liquidation levels of leveraged positions around the current price',
  dependsOn: ['spot', 'openInterest', 'btcClose'],
  fields: FIELDS,
  async build({ spot, read }) {
    const { priceUsd } = await spot();
    const openInterestUsd = (await read('openInterest')).reading.value;
    const closes = (await read('btcClose')).known.values;
    const assumptions = { ...RULES, leverages: [...RULES.leverages], ...GRID };
    const common = { estimate: true as const, method: METHOD, assumptions, price: roundTo(priceUsd, 2) };
    if (openInterestUsd === null) return { ...common, reason: 'The open interest is unknown', openInterestUsd, ...EMPTY_HEATMAP };
    const known = { ...common, reason: null, openInterestUsd: roundOrNull(openInterestUsd, 0) };
    if (closes.length === 0) return { ...known, reason: 'No daily close is available', ...EMPTY_HEATMAP };
    return { ...known, ...buildHeatmap(estimateLiquidationLevels(openInterestUsd, closes, priceUsd, RULES), priceUsd) };
  },
});

function buildHeatmap({ levels, clearedUsd }: ReturnType<typeof estimateLiquidationLevels>, spotUsd: number) {
  const filterSide = (side: 'long' | 'short') => levels.filter((level) => level.side === side);
  const longs = buildLiquidationBuckets(filterSide('long'), spotUsd, { ...GRID, direction: -1 });
  const shorts = buildLiquidationBuckets(filterSide('short'), spotUsd, { ...GRID, direction: 1 });
  const getTotalUsd = (buckets: typeof longs) => buckets.at(-1)?.cumulativeUsd ?? 0;
  return {
    openInterestLeftUsd: Math.floor(levels.reduce((sum, { usd }) => sum + usd, 0)),
    alreadyReachedUsd: roundOrNull(clearedUsd, 0),
    longLiquidationsUsd: getTotalUsd(longs),
    shortLiquidationsUsd: getTotalUsd(shorts),
    longs,
    shorts,
  };
}

/** Sums the levels of one side in steps of `stepPct` of the spot price, nearest first, up to `rangePct`. Amounts are floored to dollars. */
export function buildLiquidationBuckets(
  levels: readonly LiquidationLevel[],
  spotUsd: number,
  { stepPct, rangePct, direction }: { stepPct: number; rangePct: number; direction: 1 | -1 },
) {
  const sums = new Float64Array(Math.round(rangePct / stepPct));
  for (const { priceUsd, usd } of levels) {
    const distancePct = 100 * direction * (priceUsd / spotUsd - 1);
    const index = Math.floor(distancePct / stepPct);
    if (index >= 0 && index < sums.length) sums[index] += usd;
  }
  const priceAt = (pct: number) => roundTo(spotUsd * (1 + (direction * pct) / 100), 2);
  let cumulativeUsd = 0;
  return Array.from(sums, (sum, index) => {
    const usd = Math.floor(sum);
    cumulativeUsd += usd;
    const distancePct = (index + 1) * stepPct;
    return { fromUsd: priceAt(index * stepPct), toUsd: priceAt(distancePct), distancePct, usd, cumulativeUsd };
  });
}
