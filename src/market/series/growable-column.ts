type NumberArray = Float64Array | Int32Array;

/** Append-only typed array. Views stay valid and unchanged while it grows. */
export interface GrowableColumn<Column extends NumberArray> {
  readonly length: number;
  push(value: number): void;
  /** Requires `index < length`. */
  at(index: number): number;
  view(): Column;
}

export function createGrowableColumn<Column extends NumberArray>(
  create: (length: number) => Column,
  capacity = 4096,
): GrowableColumn<Column> {
  let storage = create(capacity);
  let length = 0;
  return {
    get length() {
      return length;
    },
    push(value) {
      if (length === storage.length) {
        const full = storage;
        storage = create(full.length * 2);
        storage.set(full);
      }
      storage[length++] = value;
    },
    at: (index) => storage[index],
    view: () => storage.subarray(0, length) as Column,
  };
}

export const allocateFloat64 = (length: number): Float64Array => new Float64Array(length);
export const allocateInt32 = (length: number): Int32Array => new Int32Array(length);
