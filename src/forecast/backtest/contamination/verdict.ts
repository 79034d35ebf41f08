import { formatHorizonName } from '../../model.ts';
import { SUSPICIOUS_ACCURACY } from '../canaries/accuracy.ts';
import type { EraFigures, HorizonEras } from './eras.ts';
import type { LagMutant } from './lag-mutants.ts';
import type { FeatureDifference } from './point-in-time-audit.ts';
import type { Vintages } from './vintages.ts';

/** Before and since the ETFs. */
const ERA_COUNT = 2;
const COMPARED_MEASURES = ['brierSkill', 'crpsSkill'] as const;
const MEASURE_NAMES = { brierSkill: 'Brier skill', crpsSkill: 'CRPS skill' } as const;

interface Suspicion {
  horizonDays: number;
  /** An era or a regime. */
  where: string;
  why: string;
}

interface PointInTimeAudit {
  days: string[];
  vintages: Vintages;
  differences: FeatureDifference[];
}

export interface ContaminationFindings {
  horizons: HorizonEras[];
  suspicions: Suspicion[];
  pointInTime: PointInTimeAudit;
  lagMutants: LagMutant[];
}

/**
 * Eras significantly better than the other, and in both directions eras or regimes of a suspicious accuracy: a label read with the wrong
 * sign makes a forecast as far worse than chance as a leak makes it better.
 */
export function findSuspicions(horizons: readonly HorizonEras[]): Suspicion[] {
  return horizons.flatMap((one) => [...findBetterEras(one), ...findSuspiciousAccuracy(one)]);
}

function findBetterEras({ horizonDays, difference }: HorizonEras): Suspicion[] {
  return COMPARED_MEASURES.flatMap((name) => {
    const found = difference[name];
    if (found === null || found.low === null || found.high === null || (found.low <= 0 && found.high >= 0)) return [];
    const where = found.value > 0 ? 'since the ETFs' : 'before the ETFs';
    const points = (100 * Math.abs(found.value)).toFixed(1);
    const why = `${MEASURE_NAMES[name]} is better than in the other era by ${points} points, and the 95 % interval excludes zero`;
    return [{ horizonDays, where, why }];
  });
}

function findSuspiciousAccuracy({ horizonDays, preEtf, postEtf, regimes }: HorizonEras): Suspicion[] {
  const segments: [string, EraFigures][] = [
    ['before the ETFs', preEtf],
    ['since the ETFs', postEtf],
    ...regimes.map((figures): [string, EraFigures] => [figures.regime, figures]),
  ];
  return segments.flatMap(([where, { accuracy, edge }]) => {
    const side = accuracy === null || edge === null ? null : findSuspiciousSide(accuracy, edge);
    if (side === null) return [];
    return [{ horizonDays, where, why: `right on ${(100 * accuracy!).toFixed(1)} % of the days, ${side}` }];
  });
}

function findSuspiciousSide(accuracy: number, { low, high }: NonNullable<EraFigures['edge']>): string | null {
  if (low !== null && low > 0 && accuracy > SUSPICIOUS_ACCURACY) return 'above 60 % and above always-UP significantly';
  return high !== null && high < 0 ? 'below always-UP significantly' : null;
}

export function formatContaminationVerdict(findings: ContaminationFindings): string {
  return [formatAudit(findings.pointInTime), formatMutants(findings.lagMutants), formatEras(findings)].join('. ');
}

function formatAudit({ days, vintages, differences }: PointInTimeAudit): string {
  if (days.length === 0) return 'No day was audited';
  if (differences.length === 0) return `On ${days.length} audited days ${AUDIT_PASSED[vintages]}`;
  const features = [...new Set(differences.map(({ feature }) => feature))];
  const changed = new Set(differences.map(({ day }) => day));
  return `LEAK OR REVISION: ${features.join(', ')} differ from the values known at the time on ${changed.size} of ${days.length} audited days`;
}

const AUDIT_PASSED: Record<Vintages, string> = {
  collected: 'every feature matches the value known at the time; for days before collection began, the value that providers returned then',
  made: 'every feature matches the value known at the time, in a simulated market without revisions',
  none: 'the lags hold: no feature needs later data. Revisions before the files were collected cannot show, as they hold no vintages',
};

function formatMutants(lagMutants: readonly LagMutant[]): string {
  const applicable = lagMutants.filter((mutant) => mutant.applicable);
  const missed = applicable.filter(({ caught }) => !caught).map(({ input }) => input);
  if (missed.length > 0) return `UNRELIABLE: the audit misses one day less lag of ${missed.join(', ')}`;
  if (applicable.length === 0) return 'No lag mutant was run';
  const left = lagMutants.filter(({ applicable: applies }) => !applies).map(({ input }) => input);
  const note = left.length === 0 ? '' : `; not applicable: ${left.join(', ')}`;
  return `All ${applicable.length} mutants that read an input a day early were caught${note}`;
}

function formatEras({ horizons, suspicions }: Pick<ContaminationFindings, 'horizons' | 'suspicions'>): string {
  if (horizons.every(({ difference }) => difference.brierSkill === null)) return 'Fewer than two eras have forecasts';
  if (suspicions.length === 0) return 'No era or regime is suspiciously better or worse than the others';
  const list = suspicions.map(({ horizonDays, where, why }) => `${where} at ${formatHorizonName(horizonDays)}: ${why}`);
  const eras = horizons.length * COMPARED_MEASURES.length;
  const accuracies = horizons.reduce((sum, { regimes }) => sum + ERA_COUNT + regimes.length, 0);
  // Of an accuracy one side alone counts at any size, so that 2.5 % are expected.
  const expected = (eras * 0.05 + accuracies * 0.025).toFixed(1);
  const tests = `${eras} comparisons of eras and ${accuracies} of accuracies`;
  return `SUSPICIOUS: ${list.join('; ')} (of ${tests} about ${expected} are expected to be significant by chance)`;
}
