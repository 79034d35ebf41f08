/** Long work of this process, one at a time; whoever asks for what is under way gets what comes of it. */
export class SingleFlightQueue {
  readonly #inFlight = new Map<string, Promise<unknown>>();
  #last: Promise<unknown> = Promise.resolve();

  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const known = this.#inFlight.get(key);
    if (known !== undefined) return known as Promise<Result>;
    const run = this.#last.then(work);
    this.#inFlight.set(key, run);
    this.#last = run.then(
      () => this.#inFlight.delete(key),
      () => this.#inFlight.delete(key),
    );
    return run;
  }
}
