import { addressRanges } from '../../../../auth/rate-limit/address-ranges.ts';

/** The most that may be counted: for one address key, for a /56, for a /48, and in all. */
export interface RangeLimits {
  address: number;
  home: number;
  site: number;
  all: number;
}

/** Shares of a budget that a single address, /56 and /48 may use. */
export function buildRangeLimits(all: number, shares: { address: number; home: number; site: number }): RangeLimits {
  const share = (fraction: number) => Math.max(1, Math.floor(all * fraction));
  return { address: share(shares.address), home: share(shares.home), site: share(shares.site), all };
}

/** Amounts by address, with a limit for each range that the address is in. */
export class AddressRangeCounter {
  readonly #limits: RangeLimits;
  readonly #amounts = new Map<string, number>();
  #all = 0;

  constructor(limits: RangeLimits) {
    this.#limits = limits;
  }

  /** Adds an amount; false, and nothing is added, where a limit would be exceeded. */
  tryAdd(address: string, amount = 1): boolean {
    this.add(address, amount);
    if (!this.isExceeded(address)) return true;
    this.add(address, -amount);
    return false;
  }

  /** Adds an amount, which may be negative, whatever the limits are. */
  add(address: string, amount: number): void {
    this.#all += amount;
    for (const range of addressRanges(address)) {
      const sum = (this.#amounts.get(range) ?? 0) + amount;
      if (sum === 0) this.#amounts.delete(range);
      else this.#amounts.set(range, sum);
    }
  }

  /**
   * Whether an amount can be added.
   * @param inRangesOf only the ranges that this other address shares count, besides the sum of all
   */
  hasRoom(address: string, amount: number, inRangesOf = address): boolean {
    const { address: own, home, site, all } = this.#limits;
    const limits = [own, home, site];
    const shared = new Set(addressRanges(inRangesOf));
    if (this.#all + amount > all) return false;
    return !addressRanges(address).some((range, index) => shared.has(range) && (this.#amounts.get(range) ?? 0) + amount > limits[index]!);
  }

  /** Whether more is counted than a range of this address may have, or than all may have together. */
  isExceeded(address: string): boolean {
    const { address: own, home, site, all } = this.#limits;
    const limits = [own, home, site];
    return this.#all > all || addressRanges(address).some((range, index) => (this.#amounts.get(range) ?? 0) > limits[index]!);
  }
}
