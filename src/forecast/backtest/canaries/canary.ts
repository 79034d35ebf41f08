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

/** A test that fails on lookahead, with mutants that prove it can fail. */
export interface Canary {
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

export type CanaryDescription = Pick<Canary, 'name' | 'what' | 'unit'>;

interface CanaryMeasurement {
  figure: number;
  limit: number;
  note: string;
  mutants: { what: string; figure: number }[];
}

export function completedCanary(text: CanaryDescription, { figure, limit, note, mutants }: CanaryMeasurement): Canary {
  return {
    ...text,
    figure,
    limit,
    passed: figure <= limit,
    note,
    mutants: mutants.map((mutant) => ({ ...mutant, caught: mutant.figure > limit })),
  };
}

export function skippedCanary(text: CanaryDescription, why: string): Canary {
  return { ...text, figure: null, limit: null, passed: null, note: `not run: ${why}`, mutants: [] };
}

/** Whether no canary found a leak and every mutant was caught. */
export function areCanariesHealthy(canaries: readonly Canary[]): boolean {
  return canaries.every(({ passed, mutants }) => passed !== false && mutants.every(({ caught }) => caught));
}
