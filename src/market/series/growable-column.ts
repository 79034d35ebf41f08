type NumberArray = Float64Array | Int32Array;

/** An append-only column. Views of it stay valid and unchanged while it grows. */
export interface GrowableColumn<Column extends NumberArray> {
  readonly length: number;
  push(value: number): void;
  /** The entry of an index below `length`. */
  at(index: number): number;
  /** A view of everything pushed so far. */
  view(): Column;
}

/** An empty column; `create` makes its storage, e.g. `(n) => new Float64Array(n)`. */
export function createGrowableColumn<Column extends NumberArray>(
  create: (length: number) => Column,
  capacity = 4096,
): GrowableColumn<Column> {
  let storage = create(capacity);
  let length = 0;

  function grow(): void {
    const larger = create(storage.length * 2);
    larger.set(storage);
    storage = larger;
  }

  return {
    get length() {
      return length;
    },
    push(value) {
      if (length === storage.length) grow();
      storage[length++] = value;
    },
    at: (index) => storage[index],
    view: () => storage.subarray(0, length) as Column,
  };
}

export const allocateFloat64 = (length: number): Float64Array => new Float64Array(length);
export const allocateInt32 = (length: number): Int32Array => new Int32Array(length);
