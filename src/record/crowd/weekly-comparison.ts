import { type Day, formatDay } from '../../forecast/day.ts';
import { computeMeanInterval, type MeanInterval } from '../../forecast/math/mean-interval.ts';
import { boundedLogLoss, brierScore } from '../../forecast/scoring.ts';
import type { Side } from '../../wager/sizing.ts';
import { type CrowdPin, roundScore, selectFirstPins } from './crowd-pins.ts';

export interface ProbabilityScores {
  brier: number;
  logLoss: number;
}

export type WeekComparison = ReturnType<typeof compareWeek>;

/** By the first pin of each week; `through` is the last day whose oracle side the caller may read, null without a limit. */
export function compareWeekly(pins: readonly CrowdPin[], through: Day | null) {
  const weeks = selectWeekPins(pins).map((pin) => compareWeek(pin, through !== null && pin.day > through));
  return { weeks: weeks.toReversed(), totals: computeTotals(weeks) };
}

function selectWeekPins(pins: readonly CrowdPin[]): CrowdPin[] {
  return selectFirstPins(pins, ({ weekId }) => weekId);
}

function compareWeek(pin: CrowdPin, gated: boolean) {
  const { weekId, venue, marketId, question, pMarket, pOracle, replayed } = pin;
  // Gated too: the settlement time may disclose whether there was a stake.
  const winner = gated ? null : pin.winner;
  const market = winner === null ? null : scoreProbability(pMarket, winner);
  const oracle = winner === null ? null : scoreProbability(pOracle, winner);
  return {
    weekId,
    date: formatDay(pin.day),
    venue,
    marketId,
    question,
    strike: pin.strikeUsd,
    btcPrice: pin.btcPriceUsd,
    expiresAt: pin.expiresAt.toISOString(),
    pinnedAt: pin.pinnedAt.toISOString(),
    book: pin.book,
    marketProbability: pMarket,
    oracleProbability: gated ? null : pOracle,
    gated,
    status: winner === null ? ('PENDING' as const) : ('SETTLED' as const),
    winner,
    market,
    oracle,
    closer: market === null || oracle === null ? null : findCloser(market, oracle),
    replayed,
  };
}

function scoreProbability(p: number, winner: Side): ProbabilityScores {
  const happened = winner === 'YES';
  return { brier: roundScore(brierScore(p, happened)), logLoss: roundScore(boundedLogLoss(p, happened)) };
}

function findCloser(market: ProbabilityScores, oracle: ProbabilityScores): 'oracle' | 'market' | 'tie' {
  if (oracle.brier === market.brier) return 'tie';
  return oracle.brier < market.brier ? 'oracle' : 'market';
}

function computeTotals(weeks: WeekComparison[]) {
  const pairs = weeks.flatMap(({ market, oracle }) => (market === null || oracle === null ? [] : [{ market, oracle }]));
  const difference = (score: keyof ProbabilityScores) =>
    roundMeanInterval(computeMeanInterval(pairs.map(({ market, oracle }) => oracle[score] - market[score])));
  const brierDifference = difference('brier');
  return {
    weeks: pairs.length,
    market: averageScores(pairs.map(({ market }) => market)),
    oracle: averageScores(pairs.map(({ oracle }) => oracle)),
    brierDifference,
    logLossDifference: difference('logLoss'),
    oracleCloser: weeks.filter(({ closer }) => closer === 'oracle').length,
    marketCloser: weeks.filter(({ closer }) => closer === 'market').length,
    verdict: formatComparisonVerdict(brierDifference),
  };
}

function averageScores(scores: ProbabilityScores[]): ProbabilityScores | null {
  const mean = (score: keyof ProbabilityScores) => roundScore(computeMeanInterval(scores.map((one) => one[score]))!.mean);
  return scores.length === 0 ? null : { brier: mean('brier'), logLoss: mean('logLoss') };
}

function roundMeanInterval(interval: MeanInterval | null): MeanInterval | null {
  if (interval === null) return null;
  const { n, mean, low, high } = interval;
  const bound = (value: number | null) => (value === null ? null : roundScore(value));
  return { n, mean: roundScore(mean), low: bound(low), high: bound(high) };
}

function formatComparisonVerdict(difference: MeanInterval | null): string {
  if (difference === null) return 'no week is settled yet: no claim can be made';
  const { n, mean, low, high } = difference;
  if (low === null || high === null) return 'one settled week: no claim can be made';
  const range = `mean Brier difference ${mean.toFixed(4)} over ${n} weeks, 95 % interval ${low.toFixed(4)} to ${high.toFixed(4)}`;
  if (high < 0) return `the oracle was better than the crowd: ${range}`;
  if (low > 0) return `the crowd was better than the oracle: ${range}`;
  return `oracle and crowd cannot be distinguished: ${range}`;
}
