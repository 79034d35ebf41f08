import { type Canary, isHealthy } from './canaries/canary.ts';
import type { PooledReport } from './pooled-report.ts';

/** A difference or skill and its interval, as the words read it. */
interface Compared {
  value: number;
  low: number | null;
  high: number | null;
}

/** What the folds of one horizon amount to, in words. */
export function horizonVerdict(pooled: PooledReport | null): string {
  if (pooled === null) return 'no complete fold: nothing can be said';
  const { statistics, crpsSkill, worth } = pooled;
  const skill = statistics.probabilities!.climatologySkill!;
  const held = statistics.distribution!.coverage.find(({ nominal }) => nominal === 0.8)!.observed;
  return [
    directionWords(pooled),
    `P(up) ${relation(skill)} the base rate: Brier skill ${interval(skill, '%')}`,
    `distribution ${relation(crpsSkill)} past returns: CRPS skill ${interval(crpsSkill, '%')}, the central 80 % held ${percent(held)}`,
    ...proofWords(worth),
  ].join('; ');
}

function directionWords({ n, direction, directions }: PooledReport): string {
  const { accuracy, difference } = direction.alwaysUp!;
  const right = `right on ${percent(direction.accuracy!)} of ${n} days`;
  if (directions.down === 0)
    return `direction not distinguishable from always-UP: ${right}, and UP was likelier on every one, so that no skill can show`;
  return `direction ${relation(difference)} always-UP: ${right}, always-UP ${percent(accuracy)}, difference ${interval(difference, 'points')}`;
}

function proofWords({ independentPerYear, proof }: PooledReport['worth']): string[] {
  if (independentPerYear === null) return [];
  const years = proof.map((one) => `${one.points} points would take ${one.years!.toPrecision(2)} years`).join(', ');
  return [`a call a day is worth ${Math.round(independentPerYear)} independent ones a year, so that proving ${years}`];
}

/** What the canaries amount to, in words: the loudest first. */
export function leakVerdict(canaries: readonly Canary[]): string {
  const failed = canaries.filter(({ passed }) => passed === false);
  const found = failed.map(({ name, figure, limit }) => `${name} (${figure!.toPrecision(3)}, at most ${Number(limit!.toPrecision(3))})`);
  const missed = canaries.flatMap(({ name, mutants }) => mutants.filter(({ caught }) => !caught).map(({ what }) => `${name} (${what})`));
  const silent = canaries.filter(({ passed }) => passed === null).map(({ name }) => name);
  const unheard = silent.length === 0 ? '' : `; not run: ${silent.join(', ')}`;
  if (!isHealthy(canaries)) {
    const leak = found.length === 0 ? [] : [`LEAK SUSPECTED: ${found.join('; ')}`];
    const blind = missed.length === 0 ? [] : [`NOT TO BE TRUSTED: what was broken on purpose was not caught by ${missed.join('; ')}`];
    return [...leak, ...blind].join('. ') + unheard;
  }
  if (silent.length === canaries.length) return 'no canary could be run: the history is too short';
  const caught = canaries.reduce((sum, { mutants }) => sum + mutants.length, 0);
  return `no leak found: ${canaries.length - silent.length} canaries passed, and caught all ${caught} pipelines that were broken on purpose${unheard}`;
}

function relation({ low, high }: Compared): string {
  if (low === null || high === null) return 'on too few days to be compared with';
  if (low > 0) return 'better than';
  return high < 0 ? 'worse than' : 'not distinguishable from';
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** `0.17 % (95 % interval -0.32 to 0.68)`. */
function interval({ value, low, high }: Compared, unit: string): string {
  const hundredths = (share: number) => (100 * share).toFixed(2);
  const bounds = low === null || high === null ? '' : ` (95 % interval ${hundredths(low)} to ${hundredths(high)})`;
  return `${hundredths(value)} ${unit}${bounds}`;
}
