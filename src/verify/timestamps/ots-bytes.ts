/** Data that is no valid timestamp: too long, truncated, or of an unknown kind. */
export class InvalidTimestampError extends Error {}

/** Reads the binary format of OpenTimestamps; every method throws `InvalidTimestampError` at the end of the data. */
export class OtsReader {
  readonly #bytes: Uint8Array;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  readBytes(length: number): Uint8Array {
    const end = this.#offset + length;
    if (end > this.#bytes.length) throw new InvalidTimestampError('the timestamp is truncated');
    const read = this.#bytes.slice(this.#offset, end);
    this.#offset = end;
    return read;
  }

  readByte(): number {
    return this.readBytes(1)[0]!;
  }

  /** Little-endian base 128. */
  readNumber(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.readByte();
      value += (byte & 0x7f) * scale;
      if (!Number.isSafeInteger(value) || scale > 2 ** 49)
        throw new InvalidTimestampError('the timestamp holds a number that is too large');
      if (byte < 0x80) return value;
    }
  }

  /** Bytes after their length. */
  readSizedBytes({ min = 0, max }: { min?: number; max: number }): Uint8Array {
    const length = this.readNumber();
    if (length < min || length > max) throw new InvalidTimestampError(`the timestamp holds ${length} bytes where ${min} to ${max} may be`);
    return this.readBytes(length);
  }

  requireEnd(): void {
    if (this.#offset < this.#bytes.length) throw new InvalidTimestampError('bytes follow the end of the timestamp');
  }
}

/** Little-endian base 128. */
export function encodeNumber(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}

export function encodeSizedBytes(bytes: Uint8Array): number[] {
  return [...encodeNumber(bytes.length), ...bytes];
}
