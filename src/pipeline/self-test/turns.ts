/** Long work of this process, one at a time; whoever asks for what is under way gets what comes of it. */
export class OneAtATime {
  readonly #underWay = new Map<string, Promise<unknown>>();
  #last: Promise<unknown> = Promise.resolve();

  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const known = this.#underWay.get(key);
    if (known !== undefined) return known as Promise<Result>;
    const run = this.#last.then(work);
    this.#underWay.set(key, run);
    this.#last = run.then(
      () => this.#underWay.delete(key),
      () => this.#underWay.delete(key),
    );
    return run;
  }
}
