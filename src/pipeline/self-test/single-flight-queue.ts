import PQueue from 'p-queue';

/** Runs long computations of this process one at a time; callers with the same key share one run. */
export class SingleFlightQueue {
  readonly #queue = new PQueue({ concurrency: 1 });
  readonly #inFlight = new Map<string, Promise<unknown>>();

  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const known = this.#inFlight.get(key);
    if (known !== undefined) return known as Promise<Result>;
    const run = this.#queue.add(work).finally(() => this.#inFlight.delete(key));
    this.#inFlight.set(key, run);
    return run;
  }
}
