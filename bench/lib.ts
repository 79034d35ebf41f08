import { type ChildProcess, fork } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

/** What the figures were measured on. */
export function machine(): string {
  const [{ model }] = cpus();
  return `${cpus().length} x ${model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, ${process.platform} ${process.arch}`;
}

const count = (value: number) => Math.round(value).toLocaleString('en-US');

const sideOf = (values: readonly number[]) => `${count(median(values))} (${count(Math.min(...values))}..${count(Math.max(...values))})`;

/** A comparison in words: medians with their range, the ratio, and whether that is what is wanted. */
export function reportOf(comparison: Comparison): string[] {
  if (comparison.kind === 'rate') return reportOfRates(comparison);
  if (comparison.kind === 'cost') return reportOfCosts(comparison);
  if (comparison.kind === 'figure') return reportOfFigure(comparison);
  return comparison.kind === 'time' ? reportOfTimes(comparison) : reportOfMemory(comparison);
}

/** Garbage collection alone moves resident memory by so much: smaller peaks count as this. */
const MEMORY_NOISE_MB = 8;
/** The kernel counts CPU time in steps of so many seconds. */
const CPU_NOISE_SECONDS = 0.01;

function reportOfCosts({ name, meaning, per, baseline, ours, maxTimes }: CostComparison): string[] {
  const unit = per === 'minute' ? 'a minute' : '1 kB';
  const amount = (cost: InputCost) => (per === 'minute' ? 1 : cost.bytes);
  const cpu = (cost: InputCost) => Math.max(cost.cpuSeconds, CPU_NOISE_SECONDS) / amount(cost);
  const memory = (cost: InputCost) => Math.max(cost.peakMb, MEMORY_NOISE_MB) / amount(cost);
  const times = [cpu(ours) / cpu(baseline), memory(ours) / memory(baseline)];
  const verdict = `goal <= ${maxTimes}: ${Math.max(...times) <= maxTimes ? 'met' : 'MISSED'}`;
  return [
    `${name}: ${meaning}`,
    `  honest    ${costLine(baseline)}`,
    `  hostile   ${costLine(ours)}`,
    `  ${unit} of hostile input costs ${times[0].toFixed(2)} x the CPU and ${times[1].toFixed(2)} x the memory of ${unit} of honest input   ${verdict}`,
  ];
}

function costLine({ requests, bytes, cpuSeconds, peakMb }: InputCost): string {
  const each = `a request: ${(cpuSeconds / requests).toFixed(5)} CPU-s, ${(peakMb / requests).toFixed(3)} MB`;
  return `${count(requests)} requests, ${(bytes / 1_000).toFixed(1)} kB sent, ${cpuSeconds.toFixed(2)} CPU-s, ${peakMb.toFixed(0)} MB at the peak; ${each}`;
}

function reportOfMemory({ what, meaning, baseline, ours, goalMb }: MemoryComparison): string[] {
  const verdict = goalMb === undefined ? 'no goal is set' : `goal <= ${count(goalMb)} MB: ${median(ours) <= goalMb ? 'met' : 'MISSED'}`;
  return [
    `resident memory of ${what}, MB, less is better`,
    `  ${meaning}`,
    `  baseline  ${sideOf(baseline)}`,
    `  ours      ${sideOf(ours)}   ${verdict}`,
  ];
}

function reportOfFigure({ what, meaning, ours, goal, digits }: FigureComparison): string[] {
  const [middle, least, most] = [median(ours), Math.min(...ours), Math.max(...ours)].map((value) => value.toFixed(digits));
  return [`${what}: ${middle} (${least}..${most})   goal <= ${goal}: ${median(ours) <= goal ? 'met' : 'MISSED'}`, `  ${meaning}`];
}

function reportOfRates({ unit, meaning, baseline, ours, goal }: RateComparison): string[] {
  const ratio = median(ours) / median(baseline);
  const verdict = goal === undefined ? 'no goal is set' : `goal >= ${goal.toFixed(2)}: ${ratio >= goal ? 'met' : 'MISSED'}`;
  return [
    `${unit}, median (min..max) of ${baseline.length} rounds`,
    `  ${meaning}`,
    `  baseline  ${sideOf(baseline)}`,
    `  ours      ${sideOf(ours)}`,
    `  ratio     ${ratio.toFixed(2)}   ${verdict}`,
  ];
}

function ratioOf(ours: readonly number[], baseline: readonly number[], goal: number | undefined): string {
  const ratio = median(ours) / median(baseline);
  const verdict = goal === undefined ? '' : `   goal <= ${goal.toFixed(2)}: ${ratio <= goal ? 'met' : 'MISSED'}`;
  return `${ratio.toFixed(2)} of the time of the baseline${verdict}`;
}

function reportOfTimes({ work, meaning, baseline, ours, goalMs, goalRatio }: TimeComparison): string[] {
  const ofMs = goalMs === undefined ? '' : `   goal <= ${count(goalMs)} ms: ${median(ours) <= goalMs ? 'met' : 'MISSED'}`;
  const hasGoal = goalMs !== undefined || (goalRatio !== undefined && baseline !== null);
  return [
    `${work}, ms, median (min..max) of ${ours.length} rounds, less is better`,
    `  ${meaning}`,
    `  baseline  ${baseline === null ? 'none' : sideOf(baseline)}`,
    `  ours      ${sideOf(ours)}${hasGoal ? ofMs : '   no goal is set'}`,
    ...(baseline === null ? [] : [`  ratio     ${ratioOf(ours, baseline, goalRatio)}`]),
  ];
}

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
interface InputCost {
  requests: number;
  /** Bytes that were sent to the service. */
  bytes: number;
  cpuSeconds: number;
  /** Memory that was held at the peak, above what was held before. */
  peakMb: number;
}

/** What hostile input costs beside honest input: less is better. */
interface CostComparison {
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

/** What a process of a benchmark can be asked for, by name. */
type Answers = Record<string, (input: never) => unknown>;

interface Question {
  number: number;
  name: string;
  input: unknown;
}

type Answer = { number: number } & ({ output: unknown } | { problem: string });

/** In the child: answers its parent, one question after the other, and ends with it. */
export function answerParent(answers: Answers): void {
  process.on('disconnect', () => process.exit(0));
  process.on('message', async ({ number, name, input }: Question) => {
    try {
      process.send!({ number, output: await answers[name](input as never) });
    } catch (error) {
      process.send!({ number, problem: error instanceof Error ? error.stack : String(error) });
    }
  });
  process.send!({ number: 0, output: null });
}

/** A process of a benchmark. */
export interface Child<Own extends Answers> {
  ask<Name extends keyof Own & string>(name: Name, ...input: Parameters<Own[Name]>): Promise<Awaited<ReturnType<Own[Name]>>>;
  /** Ends it. */
  end(): Promise<void>;
}

/** Starts a file of this folder; its errors are its parent's. */
export async function startChild<Own extends Answers>(
  file: string,
  words: readonly string[] = [],
  flags: readonly string[] = [],
): Promise<Child<Own>> {
  const child = fork(join(import.meta.dirname, file), words, { execArgv: [...flags], serialization: 'advanced' });
  const open = new Map<number, PromiseWithResolvers<unknown>>();
  const up = Promise.withResolvers<unknown>();
  open.set(0, up);
  child.on('message', (answer: Answer) => {
    const asked = open.get(answer.number)!;
    open.delete(answer.number);
    if ('problem' in answer) asked.reject(new Error(`${file}: ${answer.problem}`));
    else asked.resolve(answer.output);
  });
  const ended = whenEnded(child, () => {
    for (const asked of open.values()) asked.reject(new Error(`${file} ended`));
  });
  await up.promise;
  let last = 0;
  return {
    ask(name, input?: unknown) {
      const asked = Promise.withResolvers<unknown>();
      open.set(++last, asked);
      child.send({ number: last, name, input });
      return asked.promise as never;
    },
    async end() {
      child.disconnect();
      await ended;
    },
  };
}

function whenEnded(child: ChildProcess, then: () => void): Promise<void> {
  return new Promise((done) =>
    child.once('exit', () => {
      then();
      done();
    }),
  );
}
