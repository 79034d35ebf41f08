/** One comparison of ours with a baseline that is measured in the same run, on the same machine. */
export interface Benchmark {
  name: string;
  /** What is compared with what, in one sentence. */
  what: string;
  run(options: BenchOptions): Promise<Comparison[]>;
}

export interface BenchOptions {
  /** Sockets at once; unset: as many as the benchmark is about. */
  clients?: number;
  /** Rounds of each side. */
  rounds: number;
  /** What is worth knowing beside the figures, line by line. */
  tell(line: string): void;
}

/** Work per second of both sides, round by round. */
export interface Comparison {
  /** What is counted, e.g. `messages/s to the last client`. */
  unit: string;
  /** What the figures say, in one sentence. */
  meaning: string;
  baseline: number[];
  ours: number[];
  /** The least ratio that is wanted; unset: it is told, and that is all. */
  goal?: number;
}

/** Rounds that both sides run before anything counts. */
const WARM_UP_ROUNDS = 2;

export interface Sides<Round> {
  baseline(): Promise<Round>;
  ours(): Promise<Round>;
}

/** Runs both sides by turns, so that whatever else the machine does meets both; tells how far it is. */
export async function interleaved<Round>(
  { baseline, ours }: Sides<Round>,
  { rounds, tell }: Pick<BenchOptions, 'rounds' | 'tell'>,
): Promise<Record<keyof Sides<Round>, Round[]>> {
  const run = { baseline: [] as Round[], ours: [] as Round[] };
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    tell(round < 0 ? `  warming up, ${round + WARM_UP_ROUNDS + 1} of ${WARM_UP_ROUNDS}` : `  round ${round + 1} of ${rounds}`);
    const pair = { baseline: await baseline(), ours: await ours() };
    if (round < 0) continue;
    run.baseline.push(pair.baseline);
    run.ours.push(pair.ours);
  }
  return run;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
