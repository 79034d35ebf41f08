import { OracleError } from '../errors.ts';
import { type Day, formatDay } from './day.ts';
import { computeGridCrps, type GridScores, QUANTILE_COUNT, type QuantileGrid, scoreGrid } from './distribution.ts';
import { meanBy } from './math.ts';
import { MODEL_NAMES, type ModelName } from './models.ts';

/** A version against the one before it, on one forecast. */
export type Comparison = ReturnType<typeof compareVersions>[number];

export type ModelScores = Partial<Record<ModelName, GridScores>>;

/** Scores of the committed distributions of one forecast, and the comparisons that count for the e-process. */
export function scoreDistributions(grids: ReadonlyMap<ModelName, QuantileGrid>, realised: number) {
  const models: ModelScores = {};
  for (const [name, grid] of grids) models[name] = scoreGrid(grid, realised);
  return { models, comparisons: compareVersions(grids, realised) };
}

/** Each version with the one before it; a day without one of both counts for neither. A difference above 0: the challenger was better. */
function compareVersions(grids: ReadonlyMap<ModelName, QuantileGrid>, realised: number) {
  return listComparisons().flatMap(({ challenger, against }) => {
    const [champion, other] = [grids.get(against), grids.get(challenger)];
    if (champion === undefined || other === undefined) return [];
    // The most by which their CRPS can differ, known at commitment.
    const limit = computeMaxDifference(champion, other);
    return [{ challenger, against, limit, difference: computeLossDifference(champion, other, realised) }];
  });
}

export function listComparisons(): { challenger: ModelName; against: ModelName }[] {
  return MODEL_NAMES.slice(1).map((challenger, index) => ({ challenger, against: MODEL_NAMES[index]! }));
}

/**
 * (CRPS of the champion - CRPS of the challenger) / c with c = 2 mean |q0 - q1|, known at commitment: within -1 to 1, since a pinball loss
 * changes by at most the distance of the quantiles. Above 0 the challenger was better; 0 where both are the same.
 */
export function computeLossDifference(champion: QuantileGrid, challenger: QuantileGrid, realised: number): number {
  const limit = computeMaxDifference(champion, challenger);
  if (limit === 0) return 0;
  const difference = (computeGridCrps(champion, realised) - computeGridCrps(challenger, realised)) / limit;
  // Rounding may move it past its bounds.
  return Math.max(-1, Math.min(1, difference));
}

/** The most by which the CRPS of two distributions can differ, whatever the outcome. */
export function computeMaxDifference(champion: QuantileGrid, challenger: QuantileGrid): number {
  let sum = 0;
  for (let index = 0; index < QUANTILE_COUNT; index++) sum += Math.abs(champion[index] - challenger[index]);
  return (2 * sum) / QUANTILE_COUNT;
}

export const CHALLENGE_VERDICTS = ['not proven', 'proven better at 5 %', 'proven worse'] as const;

interface ChallengeVerdict {
  verdict: (typeof CHALLENGE_VERDICTS)[number];
  /** Day whose outcome first proved it; null while nothing is proven. */
  since: Day | null;
}

/** From the maximum of the process, as what was proven once stays so; of both directions the one proven first. */
export function judgeChallenge({ better, worse }: Pick<EProcess, 'better' | 'worse'>): ChallengeVerdict {
  const [betterSince, worseSince] = [better.provenDay, worse.provenDay];
  if (betterSince === null && worseSince === null) return { verdict: 'not proven', since: null };
  const isBetter = worseSince === null || (betterSince !== null && betterSince < worseSince);
  return isBetter ? { verdict: 'proven better at 5 %', since: betterSince } : { verdict: 'proven worse', since: worseSince };
}

/** Shares of the wealth that the mixture bets on each day. */
export const BETS = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7] as const;
/** Evidence that proves a difference at 5 %, whenever one looks (Ville, 1939). */
export const PROOF_THRESHOLD = 20;

/** Sums of ln(1 + bet * d), by offset (`day mod horizonDays`) and bet. A product has no order, so they can be kept day by day. */
type LogWealth = readonly (readonly number[])[];

/** Evidence of one direction. */
interface Evidence {
  logWealth: LogWealth;
  /** Maximum so far, at least 1, and the day of the last difference counted for it. */
  max: number;
  maxDay: Day | null;
  /** Day of the difference with which the threshold was first reached. */
  provenDay: Day | null;
}

/** The process of one horizon up to `lastDay`. */
interface EProcess {
  horizonDays: number;
  /** Days counted, missing ones left out. */
  days: number;
  lastDay: Day | null;
  /** That the challenger has the lower CRPS, and that it has the higher one. */
  better: Evidence;
  worse: Evidence;
}

/** A day's difference by `computeLossDifference`. */
export interface DayDifference {
  /** Day of the forecast. */
  day: Day;
  difference: number;
}

export function startEProcess(horizonDays: number): EProcess {
  const empty = (): Evidence => ({
    logWealth: Array.from({ length: horizonDays }, () => BETS.map(() => 0)),
    max: 1,
    maxDay: null,
    provenDay: null,
  });
  return { horizonDays, days: 0, lastDay: null, better: empty(), worse: empty() };
}

/**
 * The process after one more day. Days must ascend, since a maximum depends on their order; a day without both scores is left out.
 * @throws OracleError INPUT_INVALID for a day that does not ascend or a difference outside -1 to 1
 */
export function addDifference(process: EProcess, { day, difference }: DayDifference): EProcess {
  if (process.lastDay !== null && day <= process.lastDay) {
    throw invalid('day', `${formatDay(day)} does not follow ${formatDay(process.lastDay)}`);
  }
  if (!(Math.abs(difference) <= 1)) throw invalid('difference', `${difference} is not within -1 to 1`);
  return {
    horizonDays: process.horizonDays,
    days: process.days + 1,
    lastDay: day,
    better: addEvidence(process.better, day, difference),
    worse: addEvidence(process.worse, day, -difference),
  };
}

/** The process of all days, by ascending day. */
export function runEProcess(days: readonly DayDifference[], horizonDays: number): EProcess {
  return days.reduce(addDifference, startEProcess(horizonDays));
}

/**
 * Mean over offsets, whose windows do not overlap, and over bets of prod(1 + bet * d); the constant 1 before the first day of an offset.
 * At most `Number.MAX_VALUE`.
 */
export function computeEValue({ logWealth }: Pick<Evidence, 'logWealth'>): number {
  return Math.min(
    Number.MAX_VALUE,
    meanBy(logWealth, (sums) => meanBy(sums, Math.exp)),
  );
}

function addEvidence(evidence: Evidence, day: Day, gain: number): Evidence {
  const offsets = evidence.logWealth.length;
  const own = ((day % offsets) + offsets) % offsets;
  const logWealth = evidence.logWealth.map((sums, offset) =>
    offset === own ? sums.map((sum, bet) => sum + Math.log1p(BETS[bet]! * gain)) : sums,
  );
  const value = computeEValue({ logWealth });
  const isHighest = value > evidence.max;
  return {
    logWealth,
    max: isHighest ? value : evidence.max,
    maxDay: isHighest ? day : evidence.maxDay,
    provenDay: evidence.provenDay ?? (value >= PROOF_THRESHOLD ? day : null),
  };
}

function invalid(field: string, message: string): OracleError {
  return new OracleError('INPUT_INVALID', message, { field });
}
