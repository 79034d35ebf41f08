import { boundedLogLoss, brierScore, type Interval, wilsonInterval } from '../../forecast/scoring.ts';
import { computeReliabilityBins, type ReliabilityBin } from '../../forecast/statistics/reliability.ts';
import { roundScore, type SettledPin, selectFirstPins } from './crowd-pins.ts';

/** The market's own accuracy on settled pins, oldest first. Markets of one week share their outcome, so that intervals count weeks. */
export function computeCrowdAccuracy(pins: readonly SettledPin[]) {
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

export function computeAccuracyByVenue(pins: readonly SettledPin[]) {
  const byVenue = Map.groupBy(pins, ({ venue }) => venue);
  return [...byVenue].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([venue, members]) => ({ venue, ...computeCrowdAccuracy(members) }));
}

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
