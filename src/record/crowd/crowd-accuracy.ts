import { boundedLogLoss, brierScore, type Interval, wilsonInterval } from '../../forecast/scoring.ts';
import { computeReliabilityBins, type ReliabilityBin } from '../../forecast/statistics/reliability.ts';
import { roundScore, type SettledPin, selectFirstPins } from './crowd-pins.ts';

/** How well the prices of a prediction market have told what happened. */
export interface CrowdAccuracy {
  /** Settled markets, each by the first price that was pinned of it. */
  markets: number;
  /** Weeks that these expire in: markets of one week share their outcome, so that this is what the evidence is worth. */
  weeks: number;
  /** Mean squared error of the price of YES; null before the first settled market. Saying one half always scores 0.25. */
  brier: number | null;
  /** Mean log loss, natural logarithm; saying one half always scores 0.6931. */
  logLoss: number | null;
  /** Markets with a price above or below one half: the crowd's calls. */
  calls: number;
  hits: number;
  hitRate: number | null;
  /** 95 % Wilson interval of the hit rate, on the number of weeks that the calls lie in. */
  hitRateInterval95: Interval | null;
  reliability: ReliabilityBin[];
}

/** The crowd's own accuracy on settled pins, oldest first. */
export function computeCrowdAccuracy(pins: readonly SettledPin[]): CrowdAccuracy {
  const firsts = selectFirstPins(pins, ({ venue, marketId }) => `${venue} ${marketId}`);
  const outcomes = firsts.map(({ pMarket: p, winner, weekId }) => ({ p, happened: winner === 'YES', weekId }));
  const calls = firsts.filter(({ pMarket }) => pMarket !== 0.5);
  const hits = calls.filter(({ pMarket, winner }) => pMarket > 0.5 === (winner === 'YES')).length;
  const hitRate = calls.length === 0 ? null : hits / calls.length;
  const callWeeks = countExpiryWeeks(calls);
  return {
    markets: firsts.length,
    weeks: countExpiryWeeks(firsts),
    brier: roundedMean(outcomes.map(({ p, happened }) => brierScore(p, happened))),
    logLoss: roundedMean(outcomes.map(({ p, happened }) => boundedLogLoss(p, happened))),
    calls: calls.length,
    hits,
    hitRate: hitRate && roundScore(hitRate),
    hitRateInterval95: hitRate === null ? null : roundInterval(wilsonInterval(hitRate * callWeeks, callWeeks)),
    reliability: computeReliabilityBins(outcomes, countExpiryWeeks).map(roundReliabilityBin),
  };
}

/** The same by the venue that quoted the prices, in the order of the alphabet. */
export function computeAccuracyByVenue(pins: readonly SettledPin[]): ({ venue: string } & CrowdAccuracy)[] {
  const byVenue = Map.groupBy(pins, ({ venue }) => venue);
  return [...byVenue].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([venue, members]) => ({ venue, ...computeCrowdAccuracy(members) }));
}

/** Markets that expire in one week share their outcome. */
function countExpiryWeeks(outcomes: readonly { weekId: string }[]): number {
  return new Set(outcomes.map(({ weekId }) => weekId)).size;
}

function roundedMean(values: number[]): number | null {
  return values.length === 0 ? null : roundScore(values.reduce((sum, value) => sum + value, 0) / values.length);
}

function roundInterval({ low, high }: Interval): Interval {
  return { low: roundScore(low), high: roundScore(high) };
}

function roundReliabilityBin({ meanProbability, observedShare, interval95, ...bin }: ReliabilityBin): ReliabilityBin {
  return {
    ...bin,
    meanProbability: meanProbability && roundScore(meanProbability),
    observedShare: observedShare && roundScore(observedShare),
    interval95: interval95 && roundInterval(interval95),
  };
}
