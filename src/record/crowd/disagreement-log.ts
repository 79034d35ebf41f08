import { type Interval, wilsonInterval } from '../../forecast/scoring.ts';
import { roundTo } from '../../platform/round.ts';
import { roundScore } from './crowd-pins.ts';
import type { WeekComparison } from './weekly-comparison.ts';

/** Minimum distance of two probabilities that disagree, in basis points; opposite sides of one half always disagree. */
const MIN_DISTANCE_BPS = 1_000;

type ComparedSide = 'oracle' | 'market';
type RunningScore = Record<ComparedSide, number>;

/** Weeks in which crowd and oracle disagreed, without those that the caller may not read. Expects the newest first. */
export function buildDisagreementLog(weeks: readonly WeekComparison[]) {
  // How often each side was right, the current disagreement included.
  const score = { oracle: 0, market: 0 };
  const log = weeks.toReversed().flatMap((week) => {
    const { oracleProbability } = week;
    if (oracleProbability === null || !isDisagreement(week.marketProbability, oracleProbability)) return [];
    const right = findRightSide(week);
    if (right !== null) score[right]++;
    return [toDisagreement({ ...week, oracleProbability }, right, { ...score })];
  });
  return { disagreements: log.toReversed(), disagreementTotals: sumDisagreements(log, score) };
}

function isDisagreement(market: number, oracle: number): boolean {
  return areOnOppositeSides(market, oracle) || Math.round(Math.abs(oracle - market) * 10_000) >= MIN_DISTANCE_BPS;
}

function areOnOppositeSides(market: number, oracle: number): boolean {
  return (market - 0.5) * (oracle - 0.5) < 0;
}

/** On opposite sides, the lower score belongs to the side that came true. */
function findRightSide({ closer }: WeekComparison): ComparedSide | null {
  return closer === 'tie' ? null : closer;
}

function toDisagreement(week: WeekComparison & { oracleProbability: number }, right: ComparedSide | null, runningScore: RunningScore) {
  const { weekId, date, venue, question, strike, marketProbability, oracleProbability, status, winner, replayed } = week;
  return {
    weekId,
    date,
    venue,
    question,
    strike,
    marketProbability,
    oracleProbability,
    difference: roundTo(oracleProbability - marketProbability, 4),
    oppositeSides: areOnOppositeSides(marketProbability, oracleProbability),
    status,
    winner,
    right,
    runningScore,
    replayed,
  };
}

function sumDisagreements(log: readonly ReturnType<typeof toDisagreement>[], { oracle, market }: RunningScore) {
  const settled = oracle + market;
  const interval = settled === 0 ? null : wilsonInterval(oracle, settled);
  return {
    disagreements: log.length,
    oppositeSides: log.filter(({ oppositeSides }) => oppositeSides).length,
    settled,
    oracleRight: oracle,
    marketRight: market,
    oracleShare: settled === 0 ? null : roundScore(oracle / settled),
    oracleShareInterval95: interval && { low: roundScore(interval.low), high: roundScore(interval.high) },
    verdict: formatDisagreementVerdict(oracle, settled, interval),
  };
}

function formatDisagreementVerdict(oracle: number, settled: number, interval: Interval | null): string {
  if (interval === null) return 'no disagreement is settled yet: no claim can be made';
  const { low, high } = interval;
  const range = `${oracle} of ${settled} disagreements went its way, 95 % interval ${low.toFixed(2)} to ${high.toFixed(2)}`;
  if (low > 0.5) return `the oracle was right more often than the crowd where they disagreed: ${range}`;
  if (high < 0.5) return `the crowd was right more often than the oracle where they disagreed: ${range}`;
  return `where they disagreed, oracle and crowd cannot be distinguished: ${range}`;
}
