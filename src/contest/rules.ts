import { CLOCK_TOLERANCE_MS } from './commitments/accept-commitment.ts';
import { CONTEST_LIMITS } from './commitments/entrants.ts';
import { MAX_FORECAST_AGE_DAYS } from './rounds/pin-oracle.ts';
import { STRIKE_DISTANCE, STRIKES_EACH_SIDE } from './rounds/strikes.ts';
import { VOID_AFTER_DAYS } from './rounds/void-round.ts';
import { MIN_RANKED_ROUNDS } from './scoring/rounds-interval.ts';
import { MAX_POINTS, MAX_PROBABILITY_BPS, MIN_PROBABILITY_BPS, POINTS_PER_BRIER } from './scoring/score.ts';

export function getContestRules() {
  return {
    minProbabilityBps: MIN_PROBABILITY_BPS,
    maxProbabilityBps: MAX_PROBABILITY_BPS,
    clockToleranceSeconds: CLOCK_TOLERANCE_MS / 1_000,
    pointsPerBrier: POINTS_PER_BRIER,
    maxPointsPerMarket: MAX_POINTS,
    minRankedRounds: MIN_RANKED_ROUNDS,
    voidAfterDays: VOID_AFTER_DAYS,
    statements: [
      'One round per ISO week, listed a week before it starts with strikes around the price at that time.',
      'A wallet signs its probability that the close of the week (Sunday, UTC) is above a strike. The deadline is Monday 00:00 UTC, when the week starts.',
      'One commitment per wallet and market: the one with the latest issuedAtMs. One that is not later than the stored one is rejected.',
      "Commitments are hidden until the deadline and public afterwards; the oracle's probabilities are public once the round is resolved.",
      `The oracle takes part with its newest forecast committed on chain before the deadline, at most ${MAX_FORECAST_AGE_DAYS} days old, clipped to the same range.`,
      'The close is that of the forecasts: the agreed median of the venues. A close at the strike is not above it.',
      `Points of a market: ${POINTS_PER_BRIER} times the oracle's squared error minus the wallet's. Stating what one believes maximises the expected points.`,
      `A round takes ${CONTEST_LIMITS.all} wallets, at most ${CONTEST_LIMITS.address} of one address, and ${CONTEST_LIMITS.holders} more that hold the gate tokens of tier basic. A wallet that has entered goes on until the deadline.`,
      `A round without a forecast of the oracle, or without an agreed close ${VOID_AFTER_DAYS} days after its end, is VOID and not scored.`,
      'Points have no value, are not paid out and cannot be transferred; nothing is staked or held.',
    ],
  };
}

export function renderContestMarkdown(): string {
  const rows = [
    ['A round', 'one ISO week, Monday 00:00 UTC to Monday 00:00 UTC'],
    ['Listed', 'at the start of the week before, with fixed strikes'],
    ['Strikes', `${2 * STRIKES_EACH_SIDE + 1}, about ${STRIKE_DISTANCE * 100} % of the price apart, the middle one nearest to the price`],
    ['Deadline', 'Monday 00:00 UTC, when the week starts'],
    ['Decided by', 'the close of its Sunday (UTC), above the strike or not'],
    ['Probability', `${MIN_PROBABILITY_BPS} to ${MAX_PROBABILITY_BPS} basis points`],
    ['`issuedAtMs`', `within ${CLOCK_TOLERANCE_MS / 60_000} minutes of the service's clock`],
    [
      'Wallets of a round',
      `${CONTEST_LIMITS.all}: ${CONTEST_LIMITS.address} of one address, ${CONTEST_LIMITS['/24']} of a /24 or /56, ${CONTEST_LIMITS['/48']} of a /48; the last ${CONTEST_LIMITS.reserve} of ranges with fewer than ${CONTEST_LIMITS.reservePerRange}; besides ${CONTEST_LIMITS.holders} that hold the gate tokens of tier basic`,
    ],
    ["The oracle's forecast", `the newest committed on chain before the deadline, at most ${MAX_FORECAST_AGE_DAYS} days old`],
    [
      'Points of a market',
      `${POINTS_PER_BRIER} x (squared error of the oracle - squared error of the wallet), between -${MAX_POINTS} and ${MAX_POINTS}`,
    ],
    ['Ranked', `from ${MIN_RANKED_ROUNDS} scored rounds`],
    ['Void', `without a forecast of the oracle, or without an agreed close ${VOID_AFTER_DAYS} days after the end`],
  ];
  return ['| What | Rule |', '| --- | --- |', ...rows.map(([what, rule]) => `| ${what} | ${rule} |`)].join('\n');
}
