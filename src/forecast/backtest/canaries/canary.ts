export const CANARIES = [
  'repeated-label',
  'label-average',
  'training-cut',
  'calibration',
  'point-in-time',
  'forecast-cut',
  'accuracy-limit',
] as const;

export type CanaryName = (typeof CANARIES)[number];

/** The result of a test that fails on lookahead, with mutants that prove it can fail. */
export interface CanaryRun {
  name: CanaryName;
  what: string;
  unit: string;
  /** Of the pipeline under test; null if not run, like limit and passed. */
  figure: number | null;
  limit: number | null;
  passed: boolean | null;
  /** Origin of the figure, or why the canary was not run. */
  note: string;
  /** Runs on pipelines broken on purpose; empty if not run. */
  mutants: { what: string; figure: number; caught: boolean }[];
}

export interface Canary extends CanaryRun {
  /** Names of the model versions that it ran for. */
  versions: string[];
}

export type CanaryDescription = Pick<CanaryRun, 'name' | 'what' | 'unit'>;

interface CanaryMeasurement {
  figure: number;
  limit: number;
  note: string;
  mutants: { what: string; figure: number }[];
}

export function completedCanary(text: CanaryDescription, { figure, limit, note, mutants }: CanaryMeasurement): CanaryRun {
  return {
    ...text,
    figure,
    limit,
    passed: figure <= limit,
    note,
    mutants: mutants.map((mutant) => ({ ...mutant, caught: mutant.figure > limit })),
  };
}

export function skippedCanary(text: CanaryDescription, why: string): CanaryRun {
  return { ...text, figure: null, limit: null, passed: null, note: `not run: ${why}`, mutants: [] };
}

/** Whether no canary found a leak and every mutant was caught. */
export function areCanariesHealthy(canaries: readonly CanaryRun[]): boolean {
  return canaries.every(({ passed, mutants }) => passed !== false && mutants.every(({ caught }) => caught));
}

/** `training-cut of m1`; the name alone of a canary of all versions. */
export function formatCanaryName({ name, versions }: Canary): string {
  return versions.length === 1 ? `${name} of ${versions[0]}` : name;
}
