import { HostBudget } from './host-budget.ts';

/** What one host gets of the posts of a process. */
export interface HostGateOptions {
  /** Posts under way. */
  atOnce: number;
  /** Posts a minute; null: any number. */
  aMinute: number | null;
  now(): Date;
}

/** Why a host gets none now: `busy` passes with the posts under way, `spent` with the minute. */
export type Refusal = 'busy' | 'spent';

/** Bounds what a host gets, whoever registered it and how often: one that is dead takes no more turns than its share. */
export class HostGate {
  readonly #underWay = new Map<string, number>();
  readonly #atOnce: number;
  readonly #budget: HostBudget | null;

  constructor({ atOnce, aMinute, now }: HostGateOptions) {
    this.#atOnce = atOnce;
    this.#budget = aMinute === null ? null : new HostBudget(now, aMinute);
  }

  /** Does the work, unless the host has no turn left: then tells why. */
  async run<T>(url: string, work: () => Promise<T>): Promise<T | Refusal> {
    const name = URL.parse(url)?.hostname ?? '';
    const count = this.#underWay.get(name) ?? 0;
    if (count >= this.#atOnce) return 'busy';
    if (this.#budget !== null && this.#budget.take(name) !== 'post') return 'spent';
    this.#underWay.set(name, count + 1);
    try {
      return await work();
    } finally {
      this.#leave(name);
    }
  }

  #leave(name: string): void {
    const left = (this.#underWay.get(name) ?? 1) - 1;
    if (left === 0) this.#underWay.delete(name);
    else this.#underWay.set(name, left);
  }
}
