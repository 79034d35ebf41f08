import { CLOCK_TOLERANCE_MS } from './commitments/accept-commitment.ts';
import { MAX_FORECAST_AGE_DAYS } from './rounds/pin-oracle.ts';
import { STRIKE_DISTANCE, STRIKES_EACH_SIDE } from './rounds/strikes.ts';
import { VOID_AFTER_DAYS } from './rounds/void-round.ts';
import { MIN_RANKED_ROUNDS } from './scoring/rounds-interval.ts';
import { MAX_POINTS, MAX_PROBABILITY_BPS, MIN_PROBABILITY_BPS, POINTS_PER_BRIER } from './scoring/score.ts';

export interface ContestRules {
  minProbabilityBps: number;
  maxProbabilityBps: number;
  clockToleranceSeconds: number;
  pointsPerBrier: number;
  maxPointsPerMarket: number;
  minRankedRounds: number;
  voidAfterDays: number;
  statements: string[];
}

export function getContestRules(): ContestRules {
  return {
    minProbabilityBps: MIN_PROBABILITY_BPS,
    maxProbabilityBps: MAX_PROBABILITY_BPS,
    clockToleranceSeconds: CLOCK_TOLERANCE_MS / 1_000,
    pointsPerBrier: POINTS_PER_BRIER,
    maxPointsPerMarket: MAX_POINTS,
    minRankedRounds: MIN_RANKED_ROUNDS,
    voidAfterDays: VOID_AFTER_DAYS,
    statements: [
      'One round an ISO week, listed a week before it begins; its strikes are fixed then, around the price of that moment.',
      'A wallet signs a probability that the close of the week (Sunday, UTC) is above a strike. Commitments end on Monday 00:00 UTC, when the week begins.',
      'One commitment a wallet and market: the one with the latest issuedAtMs. One that is not later than the standing one is refused.',
      "Commitments are hidden until the deadline and public from then on; the oracle's probabilities are public once the round is resolved.",
      `The oracle takes part with the newest forecast that stood on chain before the deadline, at most ${MAX_FORECAST_AGE_DAYS} days old, in the same range of probabilities.`,
      'The close is the one that forecasts are settled with: the agreed median of the venues. A close at the strike is not above it.',
      `Points of a market: ${POINTS_PER_BRIER} times the oracle's squared error less the wallet's. To say what one believes is best.`,
      `A round without a forecast of the oracle, or without an agreed close ${VOID_AFTER_DAYS} days after its end, is VOID and scored for nobody.`,
      'Points are worth nothing, are paid out by nobody and cannot be moved; nothing is staked and nothing is held.',
    ],
  };
}

/** The rules as a Markdown table. */
export function renderContestMarkdown(): string {
  const rows = [
    ['A round', 'one ISO week, Monday 00:00 UTC to Monday 00:00 UTC'],
    ['Listed', 'when the week before it begins; the strikes are fixed then'],
    ['Strikes', `${2 * STRIKES_EACH_SIDE + 1}, about ${STRIKE_DISTANCE * 100} % of the price apart, the middle one nearest to it`],
    ['Deadline', 'the Monday 00:00 UTC that the week begins on'],
    ['Decided by', 'the close of its Sunday (UTC), above the strike or not'],
    ['Probability', `${MIN_PROBABILITY_BPS} to ${MAX_PROBABILITY_BPS} basis points`],
    ['`issuedAtMs`', `within ${CLOCK_TOLERANCE_MS / 60_000} minutes of the time of the service`],
    ["The oracle's forecast", `the newest that stood on chain before the deadline, at most ${MAX_FORECAST_AGE_DAYS} days old`],
    [
      'Points of a market',
      `${POINTS_PER_BRIER} x (squared error of the oracle - squared error of the wallet), at most ${MAX_POINTS} either way`,
    ],
    ['Ranked', `from ${MIN_RANKED_ROUNDS} scored rounds on`],
    ['Void', `without a forecast of the oracle, or without an agreed close ${VOID_AFTER_DAYS} days after the end`],
  ];
  return ['| What | Rule |', '| --- | --- |', ...rows.map(([what, rule]) => `| ${what} | ${rule} |`)].join('\n');
}
