import { z } from 'zod';
import { variance } from '../../forecast/math.ts';
import { COUNT, DATE, listOf, objectOf, PROBABILITY, roundTo } from '../../platform/validation.ts';
import { computeChangePct, roundOrNull, type SeriesReading, subtractOrNull } from '../feed.ts';
import { averageBetween, findValueAt, type Observations } from '../series.ts';
import { defineReport, toState } from './report.ts';

const DAYS_PER_YEAR = 365;
const FUNDINGS_PER_YEAR = 3 * DAYS_PER_YEAR;
const VOLATILITY_DAYS = 30;

const STATE = {
  date: DATE.nullable().describe('Date of the figures; null before the first'),
  stale: z.boolean().describe('True when the figures are missing or too old'),
  provisional: z.boolean().describe('True before the figures are final'),
};
const FIGURE = z.number().nullable();

const FIELDS = z.object({
  fundingRate: z
    .object({
      ...STATE,
      rate8h: FIGURE.describe('Rate that longs pay shorts every 8 hours, as a fraction of the position; negative when shorts pay'),
      annualizedPct: FIGURE.describe('Annualized rate in percent, without compounding'),
      average7dAnnualizedPct: FIGURE.describe('7-day mean of the annualized rate, in percent'),
    })
    .meta({ id: 'FundingFigures' })
    .describe('Funding of perpetuals'),
  openInterest: z
    .object({
      ...STATE,
      usd: FIGURE.describe('Value of all open positions, USD'),
      change1dPct: FIGURE.describe('1-day change in percent'),
      change7dPct: FIGURE.describe('7-day change in percent'),
    })
    .meta({ id: 'OpenInterestFigures' })
    .describe('Open interest of perpetuals'),
  basis: objectOf('Basis of perpetuals', {
    ...STATE,
    perpetualPct: FIGURE.describe('Mark price over index price minus one, in percent'),
  }),
  impliedVolatility: z
    .object({
      ...STATE,
      dvolPct: FIGURE.describe('Implied volatility index, annualized, in percent'),
      realized30dPct: FIGURE.describe('Realized volatility of the last 30 daily returns, annualized, in percent'),
      premiumPoints: FIGURE.describe('Implied minus realized volatility, percentage points'),
    })
    .meta({ id: 'VolatilityFigures' })
    .describe('Implied and realized volatility'),
});

export const derivativesSummaryReport = defineReport({
  path: '/api/derivatives-summary',
  summary: 'Funding, open interest and basis of perpetuals, with implied and realized volatility',
  dependsOn: ['fundingRate', 'openInterest', 'perpBasis', 'dvol', 'btcClose'],
  fields: FIELDS,
  async build({ read }) {
    return {
      fundingRate: buildFunding(await read('fundingRate')),
      openInterest: buildOpenInterest(await read('openInterest')),
      basis: buildBasis(await read('perpBasis')),
      impliedVolatility: buildVolatility(await read('dvol'), await read('btcClose')),
    };
  },
});

function buildFunding({ reading, known }: SeriesReading) {
  const { value, observedDay } = reading;
  return {
    ...toState(reading),
    rate8h: roundOrNull(value, 8),
    annualizedPct: annualizePct(value),
    average7dAnnualizedPct: observedDay === null ? null : annualizePct(averageBetween(known, observedDay - 6, observedDay)),
  };
}

function buildOpenInterest({ reading, known }: SeriesReading) {
  const { value, observedDay } = reading;
  const before = (days: number) => (observedDay === null ? null : findValueAt(known, observedDay - days));
  return {
    ...toState(reading),
    usd: roundOrNull(value, 0),
    change1dPct: computeChangePct(before(1), value),
    change7dPct: computeChangePct(before(7), value),
  };
}

function buildBasis({ reading }: SeriesReading) {
  return { ...toState(reading), perpetualPct: roundOrNull(reading.value === null ? null : reading.value * 100, 4) };
}

/** Annualized sample standard deviation of the last `days` daily log returns, in percent; null with fewer returns. */
export function computeRealizedVolatilityPct({ values }: Observations, days: number): number | null {
  if (values.length <= days) return null;
  const closes = values.subarray(-days - 1);
  const returns = Array.from(closes.subarray(1), (close, index) => Math.log(close / closes[index]));
  return 100 * Math.sqrt(variance(returns, 1) * DAYS_PER_YEAR);
}

function buildVolatility(dvol: SeriesReading, closes: SeriesReading) {
  const realized30dPct = roundOrNull(computeRealizedVolatilityPct(closes.known, VOLATILITY_DAYS), 2);
  const dvolPct = roundOrNull(dvol.reading.value, 2);
  return { ...toState(dvol.reading), dvolPct, realized30dPct, premiumPoints: roundOrNull(subtractOrNull(realized30dPct, dvolPct), 2) };
}

function annualizePct(rate8h: number | null): number | null {
  return rate8h === null ? null : roundOrNull(rate8h * FUNDINGS_PER_YEAR * 100, 2);
}

export interface LiquidationRules {
  entryDays: number;
  halfLifeDays: number;
  /** Fraction of the position. */
  maintenanceMargin: number;
  /** Distribution of leverage; the shares sum to 1. */
  leverages: readonly { leverage: number; share: number }[];
}

interface LiquidationLevel {
  side: 'long' | 'short';
  priceUsd: number;
  usd: number;
}

/**
 * Distributes open interest over liquidation prices: half longs, half shorts, entered at the last closes (newest last) with the
 * leverages of the rules. `levels` are ahead of the price, longs below it, shorts above; `clearedUsd` is at levels that it has reached.
 */
export function estimateLiquidationLevels(openInterestUsd: number, closes: Float64Array, spotUsd: number, rules: LiquidationRules) {
  const entries = closes.subarray(-rules.entryDays);
  const weights = Array.from(entries, (_, index) => 0.5 ** ((entries.length - 1 - index) / rules.halfLifeDays));
  const totalWeight = weights.reduce((sum, weight) => sum + weight, 0);
  const levels: LiquidationLevel[] = [];
  let clearedUsd = 0;
  // Newest entry first, so that the running extremes are those since each entry.
  let [lowest, highest] = [spotUsd, spotUsd];
  for (let index = entries.length - 1; index >= 0; index--) {
    const enteredUsd = (openInterestUsd * weights[index]) / totalWeight;
    for (const level of buildLevels(entries[index], enteredUsd, rules)) {
      const touched = level.side === 'long' ? level.priceUsd >= lowest : level.priceUsd <= highest;
      if (touched) clearedUsd += level.usd;
      else levels.push(level);
    }
    lowest = Math.min(lowest, entries[index]);
    highest = Math.max(highest, entries[index]);
  }
  return { levels, clearedUsd };
}

function buildLevels(entryUsd: number, enteredUsd: number, { leverages, maintenanceMargin }: LiquidationRules): LiquidationLevel[] {
  return leverages.flatMap(({ leverage, share }) => {
    const move = 1 / leverage - maintenanceMargin;
    const usd = (enteredUsd * share) / 2;
    return [
      { side: 'long', priceUsd: entryUsd * (1 - move), usd },
      { side: 'short', priceUsd: entryUsd * (1 + move), usd },
    ];
  });
}

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

const ASSUMPTIONS = objectOf('Parameters of the method', {
  entryDays: COUNT.describe('Number of last daily closes that count as entries'),
  halfLifeDays: COUNT.describe('Half-life of the weight of an entry, in days'),
  maintenanceMargin: PROBABILITY.describe('Maintenance margin as a fraction of the position, 0 to 1'),
  leverages: listOf('Distribution of leverage; the shares sum to 1', {
    leverage: z.number().describe('Position over margin'),
    share: PROBABILITY.describe('Share of the positions, 0 to 1'),
  }),
  stepPct: z.number().describe('Width of a bucket, percent of the price'),
  rangePct: z.number().describe('Range of the buckets, percent of the price'),
});

const BUCKET = z
  .object({
    fromUsd: z.number().describe('Boundary nearer to the price, USD'),
    toUsd: z.number().describe('The other boundary, USD'),
    distancePct: z.number().describe('Distance of `toUsd` from the price, in percent'),
    usd: z.number().describe('Estimated liquidations within the bucket, USD'),
    cumulativeUsd: z.number().describe('Estimated liquidations from the price to `toUsd`, USD'),
  })
  .meta({ id: 'LiquidationBucket' });

const LIQUIDATION_HEATMAP_FIELDS = z.object({
  estimate: z.literal(true).describe('Always true: no exchange publishes the positions of its traders'),
  method: z.string().describe('Method of the estimate'),
  assumptions: ASSUMPTIONS,
  price: z.number().describe('BTC/USD reference price of the distances'),
  reason: z.string().nullable().describe('Reason for a missing estimate; null otherwise'),
  openInterestUsd: FIGURE.describe('Value of all open positions, USD; null when unknown'),
  openInterestLeftUsd: FIGURE.describe('Open interest at levels ahead of the price, USD'),
  alreadyReachedUsd: FIGURE.describe('Open interest at levels that the price has already reached, USD'),
  longLiquidationsUsd: FIGURE.describe('Longs within the range below the price, USD'),
  shortLiquidationsUsd: FIGURE.describe('Shorts within the range above the price, USD'),
  longs: z.array(BUCKET).describe('Below the price, the nearest first; empty without an estimate'),
  shorts: z.array(BUCKET).describe('Above the price, the nearest first; empty without an estimate'),
});

export const liquidationHeatmapReport = defineReport({
  path: '/api/liquidation-heatmap',
  summary: 'Estimated liquidation levels of leveraged positions around the current price',
  dependsOn: ['spot', 'openInterest', 'btcClose'],
  fields: LIQUIDATION_HEATMAP_FIELDS,
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
