import { type Judged, type ReliabilityBin, reliabilityBins } from '../../forecast/reliability.ts';
import { boundedLogLoss, brierScore, type Interval, wilsonInterval } from '../../forecast/scoring.ts';
import { firstPins, type SettledPin } from './pins.ts';
import { toldScore } from './told-score.ts';

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
export function crowdAccuracy(pins: readonly SettledPin[]): CrowdAccuracy {
  const firsts = firstPins(pins, ({ venue, marketId }) => `${venue} ${marketId}`);
  const judged = firsts.map(judge);
  const calls = firsts.filter(({ pMarket }) => pMarket !== 0.5);
  const hits = calls.filter(({ pMarket, winner }) => pMarket > 0.5 === (winner === 'YES')).length;
  const hitRate = calls.length === 0 ? null : hits / calls.length;
  const callWeeks = weeksOf(calls);
  return {
    markets: firsts.length,
    weeks: weeksOf(firsts),
    brier: mean(judged.map(({ p, happened }) => brierScore(p, happened))),
    logLoss: mean(judged.map(({ p, happened }) => boundedLogLoss(p, happened))),
    calls: calls.length,
    hits,
    hitRate: told(hitRate),
    hitRateInterval95: hitRate === null ? null : toldInterval(wilsonInterval(hitRate * callWeeks, callWeeks)),
    reliability: reliabilityBins(judged, weeksOf).map(toldBin),
  };
}

/** The same by the venue that quoted the prices, in the order of the alphabet. */
export function accuracyByVenue(pins: readonly SettledPin[]): ({ venue: string } & CrowdAccuracy)[] {
  const byVenue = Map.groupBy(pins, ({ venue }) => venue);
  return [...byVenue].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([venue, members]) => ({ venue, ...crowdAccuracy(members) }));
}

function judge({ pMarket, winner, weekId }: SettledPin): Judged & { weekId: string } {
  return { p: pMarket, happened: winner === 'YES', weekId };
}

/** Markets that expire in one week share their outcome. */
function weeksOf(judged: readonly { weekId: string }[]): number {
  return new Set(judged.map(({ weekId }) => weekId)).size;
}

function mean(values: number[]): number | null {
  return values.length === 0 ? null : toldScore(values.reduce((sum, value) => sum + value, 0) / values.length);
}

function told(value: number | null): number | null {
  return value === null ? null : toldScore(value);
}

function toldInterval({ low, high }: Interval): Interval {
  return { low: toldScore(low), high: toldScore(high) };
}

function toldBin({ meanProbability, observedShare, interval95, ...bin }: ReliabilityBin): ReliabilityBin {
  return {
    ...bin,
    meanProbability: told(meanProbability),
    observedShare: told(observedShare),
    interval95: interval95 && toldInterval(interval95),
  };
}
