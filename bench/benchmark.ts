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
  /** Folder of CSV files to measure on; unset: made-up data. */
  data?: string;
  /** Days of history; unset: as many as the benchmark is about. */
  days?: number;
  /** API processes at once; unset: as many as the benchmark is about. */
  api?: number;
  /** Worker processes at once; unset: as many as the benchmark is about. */
  workers?: number;
  /** Rounds of each side. */
  rounds: number;
  /** What is worth knowing beside the figures, line by line. */
  report(line: string): void;
}

/** Options of what is asked over sockets, with their number known. */
export type SocketOptions = Required<Omit<BenchOptions, 'data' | 'days' | 'api' | 'workers'>>;

/** What a benchmark found. */
export type Comparison = RateComparison | TimeComparison | MemoryComparison | CostComparison | FigureComparison;

interface Compared {
  /** What the figures say, in one sentence. */
  meaning: string;
  ours: number[];
}

/** Work per second of both sides, round by round: more is better. */
export interface RateComparison extends Compared {
  kind: 'rate';
  /** What is counted, e.g. `messages/s to the last client`. */
  unit: string;
  baseline: number[];
  /** Smallest ratio that passes; unset: reported only. */
  goal?: number;
}

/** Milliseconds of both sides for the same work, round by round: less is better. */
export interface TimeComparison extends Compared {
  kind: 'time';
  /** What is timed. */
  work: string;
  /** Null where there is none, or it cannot run on this machine. */
  baseline: number[] | null;
  /** Most milliseconds that pass; unset: reported only. */
  goalMs?: number;
  /** Largest share of the time of the baseline that passes. */
  goalRatio?: number;
}

/** Megabytes of both sides: less is better. */
export interface MemoryComparison extends Compared {
  kind: 'memory';
  /** Whose memory it is. */
  what: string;
  baseline: number[];
  /** The most megabytes that are wanted; unset: reported only. */
  goalMb?: number;
}

/** A figure that depends on no machine, so that it needs no baseline: less is better. */
export interface FigureComparison extends Compared {
  kind: 'figure';
  /** What was counted, with its unit. */
  what: string;
  /** The largest that is wanted. */
  goal: number;
  /** Digits behind the point. */
  digits: number;
}

/** What input of one kind has cost the service. */
export interface InputCost {
  requests: number;
  /** Bytes that were sent to the service. */
  bytes: number;
  cpuSeconds: number;
  /** Memory that was held at the peak, above what was held before. */
  peakMb: number;
}

/** What hostile input costs beside honest input: less is better. */
export interface CostComparison {
  kind: 'cost';
  name: string;
  /** What the hostile client does, in one sentence. */
  meaning: string;
  /** What is compared: a kilobyte of input, or what one address may send in a minute. */
  per: 'kilobyte' | 'minute';
  baseline: InputCost;
  ours: InputCost;
  /** The largest ratio that is wanted, of CPU and of memory. */
  maxTimes: number;
}

/** Rounds that both sides run before anything counts. */
const WARM_UP_ROUNDS = 2;

/** Runs all sides in turn, so that other load of the machine affects each of them; reports progress. */
export async function interleaved<Side extends string, Round>(
  sides: Readonly<Record<Side, () => Promise<Round>>>,
  { rounds, report }: Pick<BenchOptions, 'rounds' | 'report'>,
): Promise<Record<Side, Round[]>> {
  const names = Object.keys(sides) as Side[];
  const run = Object.fromEntries(names.map((name) => [name, [] as Round[]])) as Record<Side, Round[]>;
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    report(round < 0 ? `  warming up, ${round + WARM_UP_ROUNDS + 1} of ${WARM_UP_ROUNDS}` : `  round ${round + 1} of ${rounds}`);
    for (const name of names) {
      const found = await sides[name]();
      if (round >= 0) run[name].push(found);
    }
  }
  return run;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
