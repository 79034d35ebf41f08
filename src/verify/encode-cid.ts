import { concatHex, type Hex, hexToBytes } from 'viem';

/** CID version 1, codec raw, sha2-256, 32 bytes. */
const PREFIX = '0x01551220';
/** RFC 4648, lower case, without padding. */
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const BITS_PER_CHARACTER = 5;

/** CIDv1 in base32 of a sha2-256 digest. */
export function encodeCid(digest: Hex): string {
  const bits = [...hexToBytes(concatHex([PREFIX, digest]))].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(new RegExp(`.{1,${BITS_PER_CHARACTER}}`, 'g')) ?? [];
  return `b${groups.map((group) => BASE32[Number.parseInt(group.padEnd(BITS_PER_CHARACTER, '0'), 2)]).join('')}`;
}
