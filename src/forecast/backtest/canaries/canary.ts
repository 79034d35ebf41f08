/** Names of the leak canaries, in the order they are run. */
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

/** A test that a leak of the future would fail, and the proof that it can fail. */
export interface Canary {
  name: CanaryName;
  what: string;
  /** What the figures are. */
  unit: string;
  /** Of the pipeline under test; null where it could not be run. */
  figure: number | null;
  /** Most that the figure may be; null where it could not be run. */
  limit: number | null;
  /** Null where it could not be run. */
  passed: boolean | null;
  /** Where the figure comes from, or why it could not be run. */
  note: string;
  /** The same run against pipelines that are broken on purpose; none where it could not be run. */
  mutants: Mutant[];
}

/** A pipeline that is broken on purpose. */
export interface Mutant {
  what: string;
  figure: number;
  /** Beyond the limit, as it must be. */
  caught: boolean;
}

/** What is told of a canary, whatever it finds. */
export type CanaryDescription = Pick<Canary, 'name' | 'what' | 'unit'>;

/** What the run of a canary gave. */
interface CanaryMeasurement {
  figure: number;
  limit: number;
  note: string;
  mutants: { what: string; figure: number }[];
}

/** A canary that was run. */
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

/** A canary that could not be run. */
export function skippedCanary(text: CanaryDescription, why: string): Canary {
  return { ...text, figure: null, limit: null, passed: null, note: `not run: ${why}`, mutants: [] };
}

/** Whether nothing was found, by tests of which each proved that it can find something. */
export function areCanariesHealthy(canaries: readonly Canary[]): boolean {
  return canaries.every(({ passed, mutants }) => passed !== false && mutants.every(({ caught }) => caught));
}
