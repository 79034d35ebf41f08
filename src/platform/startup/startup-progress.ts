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
