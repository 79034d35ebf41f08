import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';

/** Strict decoder and encoder for the static types of the Solidity ABI that attestations use. */

/** The input is not valid ABI encoding. */
export class DecodeError extends Error {}

const WORD_BYTES = 32;
const TYPE = /^(?:(u?int)(\d{1,3})|bytes32|address|bool)$/;

/** A number for integers up to 2^53, decimal text beyond; hex for bytes and addresses. */
type AbiValue = string | number | boolean;
interface AbiField {
  type: string;
  name: string;
}

/** Parses a schema string such as `uint64 sequence, uint32 day`. */
export function parseFields(schema: string): AbiField[] {
  return schema.split(',').map((field) => {
    const [type, name] = field.trim().split(' ');
    return { type, name };
  });
}

/** @throws {DecodeError} */
export function hexToBytesStrict(hex: unknown) {
  if (typeof hex !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(hex)) throw new DecodeError('it is not hex');
  return hexToBytes(hex.slice(2));
}

export function bytesToHexString(bytes: Uint8Array) {
  return `0x${bytesToHex(bytes)}`;
}

/** Decodes one 32-byte word per field; trailing or missing bytes are an error. @throws {DecodeError} */
export function decodeFields(fields: readonly AbiField[], bytes: Uint8Array): Record<string, AbiValue> {
  if (bytes.length !== fields.length * WORD_BYTES) throw new DecodeError(`it has ${bytes.length} bytes, not ${fields.length * WORD_BYTES}`);
  return Object.fromEntries(fields.map(({ type, name }, index) => [name, decodeWord(type, getWord(bytes, index))]));
}

/** Encodes one 32-byte word per field. @throws {DecodeError} when a value does not fit its type */
export function encodeFields(fields: readonly AbiField[], values: Record<string, AbiValue>) {
  return concatBytes(...fields.map(({ type, name }) => encodeWord(type, values[name])));
}

export function getWord(bytes: Uint8Array, index: number) {
  return bytes.subarray(index * WORD_BYTES, (index + 1) * WORD_BYTES);
}

/** Big-endian unsigned integer of `size` bytes. */
export function encodeUint(value: number | string | bigint, size: number = WORD_BYTES) {
  return hexToBytes(
    BigInt.asUintN(size * 8, BigInt(value))
      .toString(16)
      .padStart(size * 2, '0'),
  );
}

function decodeWord(type: string, word: Uint8Array): AbiValue {
  const { kind, bits } = parseType(type);
  if (kind === 'bytes32') return bytesToHexString(word);
  const value = BigInt(bytesToHexString(word));
  const number = kind === 'int' ? BigInt.asIntN(256, value) : value;
  if (!isWithin(number, kind, bits)) throw new DecodeError(`a word is no ${type}`);
  if (kind === 'bool') return number === 1n;
  if (kind === 'address') return bytesToHexString(word.subarray(12));
  return Number.isSafeInteger(Number(number)) ? Number(number) : String(number);
}

function encodeWord(type: string, value: AbiValue) {
  const { kind, bits } = parseType(type);
  if (kind === 'bytes32' || kind === 'address') {
    const bytes = hexToBytesStrict(value);
    if (bytes.length * 8 !== bits) throw new DecodeError(`${value} is no ${type}`);
    return concatBytes(new Uint8Array(WORD_BYTES - bytes.length), bytes);
  }
  const number = toBigInt(value);
  if (!isWithin(number, kind, bits)) throw new DecodeError(`${value} is no ${type}`);
  return encodeUint(number);
}

function toBigInt(value: AbiValue) {
  try {
    return BigInt(value);
  } catch {
    throw new DecodeError(`${value} is no whole number`);
  }
}

function parseType(type: string) {
  const [, integer, bits] = TYPE.exec(type) ?? [];
  if (integer !== undefined) return { kind: integer, bits: Number(bits) };
  return { kind: type, bits: { bytes32: 256, address: 160, bool: 1 }[type] ?? 0 };
}

function isWithin(value: bigint, kind: string, bits: number) {
  return kind === 'int' ? BigInt.asIntN(bits, value) === value : value >= 0n && BigInt.asUintN(bits, value) === value;
}
