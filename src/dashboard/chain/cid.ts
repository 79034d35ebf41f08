import { type Hex, hexToBytes } from 'viem';

/** IPFS content identifiers. */

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
/** CID version 1, codec raw, sha2-256, 32 bytes. */
const PREFIX = [0x01, 0x55, 0x12, 0x20];

/** CIDv1 in base32 of a sha2-256 digest. */
export function encodeCid(digest: Hex) {
  const bits = [...PREFIX, ...hexToBytes(digest)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const digits = bits.match(/.{1,5}/g) ?? [];
  return `b${digits.map((five) => ALPHABET[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')}`;
}
