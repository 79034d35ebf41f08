import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** First characters of every key, for secret scanners. */
export const API_KEY_PREFIX = 'bso_';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_BYTES = 32;
/** 62^43 > 2^256. */
const SECRET_LENGTH = 43;
/** 62^6 > 2^32. */
const CHECKSUM_LENGTH = 6;

const API_KEY_PATTERN = new RegExp(`^${API_KEY_PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/** `bso_`, 43 base62 digits of 256 random bits, and 6 of the CRC-32 of what is before them. */
export function generateApiKey(): string {
  const body = API_KEY_PREFIX + toBase62(BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`), SECRET_LENGTH);
  return body + computeChecksum(body);
}

/** Whether a bearer token is meant as an API key: access tokens never begin like this. */
export function isApiKey(token: string): boolean {
  return token.startsWith(API_KEY_PREFIX);
}

/** False for a key that was mistyped, cut off or made up. */
export function isWellFormedApiKey(key: string): boolean {
  return API_KEY_PATTERN.test(key) && computeChecksum(key.slice(0, -CHECKSUM_LENGTH)) === key.slice(-CHECKSUM_LENGTH);
}

/** SHA-256 as hex. A secret of 256 random bits needs no slow hash, and its hash can be looked up in an index. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

function computeChecksum(body: string): string {
  return toBase62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

function toBase62(value: bigint, length: number): string {
  let digits = '';
  for (let rest = value; digits.length < length; rest /= 62n) digits = DIGITS[Number(rest % 62n)] + digits;
  return digits;
}
