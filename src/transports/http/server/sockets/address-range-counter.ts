import { addressRanges } from '../../../../platform/limits/address-ranges.ts';

/** Upper bounds for one address key, an IPv6 /56, an IPv6 /48, and all clients together. */
export interface RangeLimits {
  perAddress: number;
  per56: number;
  per48: number;
  overall: number;
}

/** Bounds of a budget from the fractions of it that one address, /56 and /48 may use. */
export function buildRangeLimits(overall: number, shares: Omit<RangeLimits, 'overall'>): RangeLimits {
  const share = (fraction: number) => Math.max(1, Math.floor(overall * fraction));
  return { perAddress: share(shares.perAddress), per56: share(shares.per56), per48: share(shares.per48), overall };
}

export class AddressRangeCounter {
  readonly #limits: readonly number[];
  readonly #overallLimit: number;
  readonly #amounts = new Map<string, number>();
  #overall = 0;

  constructor({ perAddress, per56, per48, overall }: RangeLimits) {
    this.#limits = [perAddress, per56, per48];
    this.#overallLimit = overall;
  }

  /** Sum over all addresses, and its bound. */
  get use(): { used: number; limit: number } {
    return { used: this.#overall, limit: this.#overallLimit };
  }

  /** Adds an amount; returns false, and adds nothing, where it would exceed a limit. */
  tryAdd(address: string, amount = 1): boolean {
    this.add(address, amount);
    if (!this.isExceeded(address)) return true;
    this.add(address, -amount);
    return false;
  }

  /** Adds an amount, which may be negative, regardless of the limits. */
  add(address: string, amount: number): void {
    this.#overall += amount;
    for (const range of addressRanges(address)) {
      const sum = (this.#amounts.get(range) ?? 0) + amount;
      if (sum === 0) this.#amounts.delete(range);
      else this.#amounts.set(range, sum);
    }
  }

  /** Whether an amount fits. @param inRangesOf restricts the check to ranges that this other address shares, and the overall sum */
  hasRoom(address: string, amount: number, inRangesOf = address): boolean {
    const shared = addressRanges(inRangesOf);
    return this.#overall + amount <= this.#overallLimit && !this.#isAbove(address, amount, (range) => shared.includes(range));
  }

  /** Whether a range of this address, or the overall sum, is above its limit. */
  isExceeded(address: string): boolean {
    return this.#overall > this.#overallLimit || this.#isAbove(address, 0, () => true);
  }

  #isAbove(address: string, amount: number, applies: (range: string) => boolean): boolean {
    return addressRanges(address).some((range, i) => applies(range) && (this.#amounts.get(range) ?? 0) + amount > this.#limits[i]!);
  }
}
