/** Median of the finite values among the last `window` ones pushed, kept in order as the window moves. */
export class RollingMedian {
  readonly #recent: Float64Array;
  readonly #sorted: Float64Array;
  #pushed = 0;
  #count = 0;

  constructor(window: number) {
    this.#recent = new Float64Array(window).fill(Number.NaN);
    this.#sorted = new Float64Array(window);
  }

  push(value: number): void {
    const slot = this.#pushed++ % this.#recent.length;
    const leaving = this.#recent[slot];
    if (!Number.isNaN(leaving)) this.#remove(leaving);
    this.#recent[slot] = value;
    if (!Number.isNaN(value)) this.#insert(value);
  }

  /** NaN with fewer than `minCount` finite values. */
  median(minCount: number): number {
    if (this.#count < minCount) return Number.NaN;
    const middle = this.#count >> 1;
    return this.#count % 2 === 1 ? this.#sorted[middle] : (this.#sorted[middle - 1] + this.#sorted[middle]) / 2;
  }

  #insert(value: number): void {
    const at = this.#lowerBound(value);
    this.#sorted.copyWithin(at + 1, at, this.#count++);
    this.#sorted[at] = value;
  }

  #remove(value: number): void {
    const at = this.#lowerBound(value);
    this.#sorted.copyWithin(at, at + 1, this.#count--);
  }

  #lowerBound(value: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#sorted[middle] < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
