/** A sleep that can be woken; a wake before the sleep is not lost. */
export class WakeSignal {
  #woken = Promise.withResolvers<void>();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.wake(), { once: true });
  }

  wake(): void {
    this.#woken.resolve();
  }

  async sleep(ms: number): Promise<void> {
    if (this.#signal.aborted) return;
    const timer = setTimeout(() => this.wake(), ms);
    await this.#woken.promise;
    clearTimeout(timer);
    this.#woken = Promise.withResolvers<void>();
  }
}
