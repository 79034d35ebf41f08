/** What a start is at: in words, and how much of it is done where that is counted. */
export interface StartupStep {
  what: string;
  done: number | null;
  total: number | null;
}

/** What is left of a start. A value that is passed down: whoever does a part of it says so, and the doors tell it. */
export interface StartupProgress {
  /** Null once all of it is done. */
  readonly current: StartupStep | null;
  /** Whether days of the past are still to be replayed: until they are, the clock of the local chain is behind. Set by who replays them. */
  replayAhead: boolean;
  startStep(what: string, counted?: { done: number; total: number }): void;
  /** Does a part of the start; a person who watches is told once it is done, and how long it took. */
  runStage<T>(name: string, work: () => Promise<T>, outcome: string | ((result: T) => string)): Promise<T>;
  complete(): void;
}

/** Room for the names of parts. */
const STAGE_WIDTH = 12;

/** @param writeLine hears a line for each part that is done; unset: nobody watches */
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

/** A line on one part of the service, the same form for all. */
export function formatStageLine(name: string, text: string): string {
  return `${name.padEnd(STAGE_WIDTH)}${text}`;
}

/** One sentence of it: `replaying history: 40 of 120 days`. Null once all is done. */
export function formatStartupStep({ current }: Pick<StartupProgress, 'current'>): string | null {
  if (current === null) return null;
  const { what, done, total } = current;
  return done === null || total === null ? what : `${what}: ${done} of ${total}`;
}
