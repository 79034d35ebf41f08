import { bytesToHex, concatBytes, keccak256, ripemd160, sha256, stringToBytes } from 'viem';
import { encodeSizedBytes, InvalidTimestampError, type OtsReader } from './ots-bytes.ts';

/** A step of a proof: `argument` is that of `append` and `prepend`. */
export interface OtsOperation {
  name: OperationName;
  argument?: Uint8Array;
}

export type OperationName = keyof typeof OPERATIONS;

/** Limit of the reference implementation on every message. */
const MAX_MESSAGE_BYTES = 4_096;

type Apply = (message: Uint8Array, argument: Uint8Array) => Uint8Array;

/**
 * By the tags of the reference implementation (python-opentimestamps, `core/op.py`). SHA-1, which only hashes files, is left out, and so is
 * `reverse`, which was never used.
 */
const OPERATIONS = {
  ripemd160: { tag: 0x03, hasArgument: false, apply: (message) => ripemd160(message, 'bytes') },
  sha256: { tag: 0x08, hasArgument: false, apply: (message) => sha256(message, 'bytes') },
  keccak256: { tag: 0x67, hasArgument: false, apply: (message) => keccak256(message, 'bytes') },
  append: { tag: 0xf0, hasArgument: true, apply: (message, argument) => concatBytes([message, argument]) },
  prepend: { tag: 0xf1, hasArgument: true, apply: (message, argument) => concatBytes([argument, message]) },
  hexlify: { tag: 0xf3, hasArgument: false, apply: (message) => stringToBytes(bytesToHex(message).slice(2)) },
} as const satisfies Record<string, { tag: number; hasArgument: boolean; apply: Apply }>;

export const SHA256_TAG = OPERATIONS.sha256.tag;

const BY_TAG = new Map<number, OperationName>(Object.entries(OPERATIONS).map(([name, { tag }]) => [tag, name as OperationName]));

/** @throws InvalidTimestampError for an unknown operation */
export function readOperation(reader: OtsReader, tag: number): OtsOperation {
  const name = BY_TAG.get(tag);
  if (name === undefined)
    throw new InvalidTimestampError(`the timestamp holds an unknown operation, 0x${tag.toString(16).padStart(2, '0')}`);
  return OPERATIONS[name].hasArgument ? { name, argument: reader.readSizedBytes({ min: 1, max: MAX_MESSAGE_BYTES }) } : { name };
}

export function encodeOperation({ name, argument }: OtsOperation): number[] {
  return [OPERATIONS[name].tag, ...(argument === undefined ? [] : encodeSizedBytes(argument))];
}

/** @throws InvalidTimestampError for a result beyond the limit of the format */
export function applyOperation({ name, argument = new Uint8Array() }: OtsOperation, message: Uint8Array): Uint8Array {
  const result = (OPERATIONS[name].apply as Apply)(message, argument);
  if (result.length > MAX_MESSAGE_BYTES) throw new InvalidTimestampError(`an operation of the timestamp gives ${result.length} bytes`);
  return result;
}
