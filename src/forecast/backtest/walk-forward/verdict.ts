import type { IntervalEstimate } from '../../math/block-bootstrap.ts';
import { formatPercent } from '../../math/format-percent.ts';
import { HORIZONS } from '../../model.ts';
import { RELATIONS } from '../../statistics/verdict.ts';
import { areCanariesHealthy, type Canary, formatCanaryName } from '../canaries/canary.ts';
import { RECENT_RETURN_DAYS } from '../out-of-sample.ts';
import type { PooledReport } from './pooled-report.ts';

export function formatHorizonVerdict(pooled: PooledReport | null): string {
  if (pooled === null) return 'no complete fold: no result';
  const { statistics, worth } = pooled;
  const skill = statistics.probabilities!.climatologySkill!;
  return [
    formatDirection(pooled),
    `P(up) ${formatRelation(skill)} the base rate: Brier skill ${formatEstimate(skill, '%')}`,
    formatDistribution(pooled),
    ...formatYearsToProve(worth),
    ...(pooled.advantage === 0 && getSign(skill) === 0 ? [] : [MULTIPLICITY]),
  ].join('; ');
}

/** Direction, choice of days, P(up), and the distribution against three references. */
export const STATEMENTS_PER_HORIZON = 6;
const STATEMENTS = STATEMENTS_PER_HORIZON * HORIZONS.length;
/** Added where direction or P(up) is significant; the intervals of the distributions are mostly far from zero. */
const MULTIPLICITY = `of ${STATEMENTS} such tests in this report at 5 % each, ${(STATEMENTS * 0.05).toFixed(1)} are expected to be significant by chance`;

function formatDirection({ n, direction, directions, advantage, statistics }: PooledReport): string {
  const { accuracy, difference } = direction.alwaysUp!;
  const right = `right on ${formatPercent(direction.accuracy!)} of ${n} days`;
  if (directions.down === 0)
    return `direction not distinguishable from always-UP: ${right}, UP was likelier on every day${formatSelection(statistics.calls.selection)}`;
  const apart = `difference ${formatEstimate(difference, 'points')}, from ${directions.down} DOWN days`;
  return `direction ${RELATIONS[advantage]} always-UP: ${right}, always-UP ${formatPercent(accuracy)}, ${apart}`;
}

/** The choice of the days called BUY; direction alone has none where UP is always likelier. */
function formatSelection(selection: PooledReport['statistics']['calls']['selection']): string {
  if (selection === null || selection.overHeld === null) return '';
  const { called, held, overHeld } = selection;
  return `, and BUY days rose on ${formatPercent(called)}, HOLD days on ${formatPercent(held!)}: difference ${formatEstimate(overHeld, 'points')}`;
}

function formatDistribution({ crpsSkill, recentCrpsSkill, garchCrpsSkill, coverage80 }: PooledReport): string {
  const all = `${formatRelation(crpsSkill)} the returns of all training days: CRPS skill ${formatEstimate(crpsSkill, '%')}`;
  const recent = `${formatRelation(recentCrpsSkill)} those of the last ${RECENT_RETURN_DAYS} of them: ${formatEstimate(recentCrpsSkill, '%')}`;
  const garch = `${formatRelation(garchCrpsSkill)} GARCH(1,1)-t: ${formatEstimate(garchCrpsSkill, '%')}`;
  return `distribution ${all}, ${recent}, ${garch}, the central 80 % held ${formatEstimate(coverage80, '%')}`;
}

function formatYearsToProve({
  independentPerYear,
  independentPerYear95,
  independentPerYearByOverlap,
  proof,
}: PooledReport['worth']): string[] {
  if (independentPerYear === null || independentPerYear95 === null) return [];
  const { low, high } = independentPerYear95;
  const years = proof.map((one) => `${one.points} points would take ${one.years!.toPrecision(2)} years`).join(', ');
  const measured = `${Math.round(independentPerYear)} (95 % interval ${Math.round(low)} to ${Math.round(high)})`;
  const worth = `about ${measured} independent calls a year by the variance of the hit rate, ${Math.round(independentPerYearByOverlap)} by overlap alone`;
  return [`a daily call is worth ${worth}: proving ${years}`];
}

/** Verdict of the canaries, failures first. */
export function formatLeakVerdict(canaries: readonly Canary[]): string {
  const failed = canaries.filter(({ passed }) => passed === false);
  const found = failed.map(
    (one) => `${formatCanaryName(one)} (${one.figure!.toPrecision(3)}, at most ${Number(one.limit!.toPrecision(3))})`,
  );
  const missed = canaries.flatMap((one) =>
    one.mutants.filter(({ caught }) => !caught).map(({ what }) => `${formatCanaryName(one)} (${what})`),
  );
  const skipped = canaries.filter(({ passed }) => passed === null).map(formatCanaryName);
  const skippedNote = skipped.length === 0 ? '' : `; not run: ${skipped.join(', ')}`;
  if (!areCanariesHealthy(canaries)) {
    const leak = found.length === 0 ? [] : [`LEAK SUSPECTED: ${found.join('; ')}`];
    const blind = missed.length === 0 ? [] : [`UNRELIABLE: mutants not caught by ${missed.join('; ')}`];
    return [...leak, ...blind].join('. ') + skippedNote;
  }
  if (skipped.length === canaries.length) return 'no canary was run: the history is too short';
  const caught = canaries.reduce((sum, { mutants }) => sum + mutants.length, 0);
  return `no leak found: ${canaries.length - skipped.length} canaries passed and caught all ${caught} mutants${skippedNote}`;
}

function formatRelation(compared: IntervalEstimate): string {
  return compared.low === null ? 'on too few days to be compared with' : RELATIONS[getSign(compared)];
}

/** Sign of the estimate where its interval excludes zero, else 0. */
function getSign({ low, high }: IntervalEstimate): -1 | 0 | 1 {
  if (low !== null && low > 0) return 1;
  return high !== null && high < 0 ? -1 : 0;
}

/** `0.17 % (95 % interval -0.32 to 0.68)`. */
function formatEstimate({ value, low, high }: IntervalEstimate, unit: string): string {
  const hundredths = (share: number) => (100 * share).toFixed(2).replace(/^-(0\.00)$/, '$1');
  const bounds = low === null || high === null ? '' : ` (95 % interval ${hundredths(low)} to ${hundredths(high)})`;
  return `${hundredths(value)} ${unit}${bounds}`;
}
