/** So many at once; those beyond wait, and there is an end to that too. */
export class Turns {
  readonly #most: Readonly<Record<'underWay' | 'waiting', number>>;
  #underWay = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(most: Readonly<Record<'underWay' | 'waiting', number>>) {
    this.#most = most;
  }

  /** @throws Error when too many wait already */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.#turn();
    try {
      return await work();
    } finally {
      // A turn is handed on, so that nobody can come in between.
      const next = this.#waiting.shift();
      if (next === undefined) this.#underWay -= 1;
      else next();
    }
  }

  async #turn(): Promise<void> {
    if (this.#underWay < this.#most.underWay) {
      this.#underWay += 1;
      return;
    }
    if (this.#waiting.length >= this.#most.waiting) throw new Error('too many are waiting for their turn');
    await new Promise<void>((go) => this.#waiting.push(go));
  }
}
