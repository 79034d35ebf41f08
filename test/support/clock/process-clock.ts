/** Lets the clock of this process jump, libraries included; those of database and chain, which are other processes, stay correct. */
export interface ProcessClock {
  setAhead(ms: number): void;
  restore(): void;
}

export function jumpProcessClock(): ProcessClock {
  const Correct = globalThis.Date;
  let aheadMs = 0;
  const shown = () => Correct.now() + aheadMs;
  class Jumping extends Correct {
    constructor(...values: unknown[]) {
      super(...((values.length === 0 ? [shown()] : values) as []));
    }
    static override now = shown;
  }
  globalThis.Date = Jumping as DateConstructor;
  return {
    setAhead(ms) {
      aheadMs = ms;
    },
    restore() {
      globalThis.Date = Correct;
    },
  };
}
