import { bytesToBigInt, bytesToHex, hexToBytes, sha256 } from 'viem';
import { InvalidTimestampError } from './ots-bytes.ts';

/** A block header, its hashes as explorers show them: reversed, without `0x`. */
export interface BitcoinBlock {
  hash: string;
  merkleRoot: string;
  /** As its miner states it: up to two hours ahead of the network's time. */
  at: Date;
}

const HEADER_BYTES = 80;

/** @param header hex @throws InvalidTimestampError for anything but a header whose hash meets its own target */
export function parseBlockHeader(header: string): BitcoinBlock {
  if (!/^[0-9a-f]{160}$/i.test(header)) throw new InvalidTimestampError(`a block header has ${HEADER_BYTES} bytes in hex`);
  const bytes = hexToBytes(`0x${header}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const hash = sha256(sha256(bytes, 'bytes'), 'bytes');
  if (bytesToBigInt(hash.toReversed()) > decodeTarget(view.getUint32(72, true)))
    throw new InvalidTimestampError('the hash of the block header does not meet its target');
  return { hash: formatHash(hash), merkleRoot: formatHash(bytes.subarray(36, 68)), at: new Date(view.getUint32(68, true) * 1_000) };
}

/** The compact form of a target: an exponent and three bytes. */
function decodeTarget(bits: number): bigint {
  const [exponent, mantissa] = [bits >>> 24, BigInt(bits & 0x7fffff)];
  return exponent <= 3 ? mantissa >> BigInt(8 * (3 - exponent)) : mantissa << BigInt(8 * (exponent - 3));
}

export function formatHash(bytes: Uint8Array): string {
  return bytesToHex(bytes.toReversed()).slice(2);
}
