import v8 from 'node:v8';

export interface StartupStep {
  what: string;
  done: number | null;
  total: number | null;
}

/** Progress of a start, passed down to the parts that report it and the transports that serve it. */
export interface StartupProgress {
  /** Null once the start is complete. */
  readonly current: StartupStep | null;
  /** Whether past days remain to be replayed: until then the clock of the local chain is behind. */
  replayAhead: boolean;
  startStep(what: string, counted?: { done: number; total: number }): void;
  /** Runs a stage of the start and prints its outcome and duration. */
  runStage<T>(name: string, work: () => Promise<T>, outcome: string | ((result: T) => string)): Promise<T>;
  complete(): void;
}

const STAGE_WIDTH = 12;

/** @param writeLine gets a line for each completed stage */
export function createStartupProgress(first = 'starting', writeLine: (line: string) => void = () => undefined): StartupProgress {
  let current: StartupStep | null = { what: first, done: null, total: null };
  return {
    replayAhead: false,
    get current() {
      return current;
    },
    startStep(what, counted) {
      current = { what, done: counted?.done ?? null, total: counted?.total ?? null };
    },
    async runStage(name, work, outcome) {
      const began = performance.now();
      const result = await work();
      const seconds = ((performance.now() - began) / 1_000).toFixed(1);
      writeLine(formatStageLine(name, `${typeof outcome === 'string' ? outcome : outcome(result)} in ${seconds} s`));
      return result;
    },
    complete() {
      current = null;
    },
  };
}

export function formatStageLine(name: string, text: string): string {
  return `${name.padEnd(STAGE_WIDTH)}${text}`;
}

/** For example `replaying history: 40 of 120`. Null once the start is complete. */
export function formatStartupStep({ current }: Pick<StartupProgress, 'current'>): string | null {
  if (current === null) return null;
  const { what, done, total } = current;
  return done === null || total === null ? what : `${what}: ${done} of ${total}`;
}

export function writeNotice(text: string): void {
  process.stderr.write(`${text}\n`);
}

interface ProgressOptions {
  /** Default: standard error. */
  output?: { isTTY?: boolean; write(text: string): unknown };
  /** Monotonic milliseconds. */
  clock?(): number;
}

const BAR_WIDTH = 30;

export function createProgressBar(
  title: string,
  { output = process.stderr, clock = () => performance.now() }: ProgressOptions = {},
): { update(done: number, total: number, label: string): void; end(): void } {
  const timeLeft = createEstimator(clock);
  let lastTenth = -1;
  let shown = false;

  function bar(done: number, total: number, label: string): string {
    const filled = Math.round((done / total) * BAR_WIDTH);
    return `${title} [${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${done}/${total} ${label}`;
  }

  return {
    update(done, total, label) {
      const line = `${bar(done, total, label)}${timeLeft(done, total)}`;
      if (output.isTTY) {
        output.write(`\r${line}\x1b[K`);
        shown = true;
        return;
      }
      const tenth = Math.floor((10 * done) / total);
      if (tenth > lastTenth) output.write(`${line}\n`);
      lastTenth = tenth;
    },
    end() {
      if (shown) output.write('\n');
    },
  };
}

function createEstimator(clock: () => number): (done: number, total: number) => string {
  let first: { at: number; done: number } | undefined;
  return (done, total) => {
    first ??= { at: clock(), done };
    const steps = done - first.done;
    if (steps <= 0 || done >= total) return '';
    return `, ${formatTimeLeft(((clock() - first.at) / steps) * (total - done))} left`;
  };
}

function formatTimeLeft(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 90 ? `about ${seconds} s` : `about ${Math.round(seconds / 60)} min`;
}

/** Per cent by which the heap grows until the next collection; 0: as V8 decides. */
const GROWTH = { tight: 70, own: 0 };

/** For work that allocates much and keeps little, for which V8 lets the heap grow to a multiple of what is kept. */
export async function withTightHeap<Result>(work: () => Promise<Result>): Promise<Result> {
  setGrowth(GROWTH.tight);
  try {
    return await work();
  } finally {
    setGrowth(GROWTH.own);
  }
}

function setGrowth(percent: number): void {
  v8.setFlagsFromString(`--heap-growing-percent=${percent}`);
}
