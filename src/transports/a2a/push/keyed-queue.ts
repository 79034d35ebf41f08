/** Work in lanes: in the order it came within a lane, lanes beside each other. */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs when all that came before in this lane has ended. `work` deals with its own errors: one that is thrown ends the lane. */
  run(key: string, work: () => Promise<void>): Promise<void> {
    const tail = (this.#tails.get(key) ?? Promise.resolve()).then(work);
    this.#tails.set(key, tail);
    return tail.finally(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
  }
}
