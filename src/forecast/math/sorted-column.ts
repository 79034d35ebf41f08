/** A column sorted once, from which the sorted values of any range of rows are read. */
export class SortedColumn {
  /** Finite values in ascending order, and their rows. */
  readonly #values: Float64Array;
  readonly #rows: Uint32Array;

  constructor(column: Float64Array) {
    this.#values = column.filter(Number.isFinite).sort();
    this.#rows = new Uint32Array(this.#values.length);
    const used = new Uint32Array(this.#values.length);
    for (let row = 0; row < column.length; row++) {
      if (!Number.isFinite(column[row])) continue;
      const first = lowerBound(this.#values, column[row]);
      this.#rows[first + used[first]++] = row;
    }
  }

  /** Finite values of the rows `from` (inclusive) to `to` (exclusive), ascending. */
  valuesBetween(from: number, to: number): Float64Array {
    const found = new Float64Array(this.#values.length);
    let count = 0;
    for (let index = 0; index < found.length; index++) {
      const row = this.#rows[index];
      if (row >= from && row < to) found[count++] = this.#values[index];
    }
    return found.subarray(0, count);
  }
}

/** Index of the first value that is not less; expects ascending values. */
function lowerBound(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
