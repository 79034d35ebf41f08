/** Work in lanes: in the order it came within a lane, lanes beside each other. */
export class Lanes {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs when all that came before in this lane has ended. `work` deals with its own errors: one that is thrown ends the lane. */
  run(lane: string, work: () => Promise<void>): Promise<void> {
    const tail = (this.#tails.get(lane) ?? Promise.resolve()).then(work);
    this.#tails.set(lane, tail);
    return tail.finally(() => {
      if (this.#tails.get(lane) === tail) this.#tails.delete(lane);
    });
  }
}
