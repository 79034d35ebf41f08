import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { bytesToHexString, DecodeError, decodeFields, encodeFields, encodeUint, getWord, hexToBytesStrict, parseFields } from './abi.ts';

/** Ethereum Attestation Service 1.x, and the schemas of this service. */

/** Schema uids are derived from these strings; non-revocable, without a resolver. */
export const SCHEMA_TEXTS = {
  prediction:
    'uint64 sequence, uint32 day, uint16 horizonDays, uint64 windowOpensAt, uint64 resolvesAt, bytes32 commitment, bytes32 inputsDigest, bytes32 metadata',
  resolution:
    'bytes32 salt, uint8 signal, uint8 direction, uint16 confidenceBps, uint16 pUpBps, uint64 btcPriceCents, uint64 btcAtSignalCents, uint64 btcAtResolutionCents, int32 returnBps, uint8 outcome',
};

/** Preimage of a commitment, in this order. */
const OPENING_FIELDS = 'bytes32 salt, uint8 signal, uint8 direction, uint16 confidenceBps, uint16 pUpBps, uint64 btcPriceCents';

/** On-chain enum values, by index. */
export const SIGNALS = ['HOLD', 'BUY', 'SELL'];
export const DIRECTIONS = ['', 'UP', 'DOWN'];
export const OUTCOMES = ['HOLD', 'WIN', 'LOSS'];

export const ZERO_UID = `0x${'00'.repeat(32)}`;

/** `getAttestation` result; times in seconds since 1970. */
export interface Attestation {
  uid: string;
  schema: string;
  time: number;
  expirationTime: number;
  revocationTime: number;
  refUID: string;
  recipient: string;
  attester: string;
  revocable: boolean;
  data: string;
}

/** Times in seconds since 1970. */
export interface PredictionData {
  sequence: number;
  day: number;
  horizonDays: number;
  windowOpensAt: number;
  resolvesAt: number;
  commitment: string;
  inputsDigest: string;
  metadata: string;
}

/** Preimage of a commitment: probabilities in basis points, price in US cents. */
interface Opening {
  salt: string;
  signal: number;
  direction: number;
  confidenceBps: number;
  pUpBps: number;
  btcPriceCents: number;
}

export type ResolutionData = Opening & { btcAtSignalCents: number; btcAtResolutionCents: number; returnBps: number; outcome: number };

const HEAD = parseFields(
  'bytes32 uid, bytes32 schema, uint64 time, uint64 expirationTime, uint64 revocationTime, bytes32 refUID, address recipient, address attester, bool revocable, uint32 data',
);
const HEAD_BYTES = HEAD.length * 32;
const MAX_EQUAL_ATTESTATIONS = 64;

/** Calldata of `getAttestation(bytes32)`. */
export function encodeGetAttestation(uid: string) {
  return bytesToHexString(concatBytes(keccak_256(utf8ToBytes('getAttestation(bytes32)')).subarray(0, 4), hexToBytesStrict(uid)));
}

/**
 * Decodes the ABI tuple with its trailing dynamic `bytes`.
 * @param result hex
 * @returns null when the chain has no attestation of that uid
 * @throws {DecodeError}
 */
export function decodeAttestation(result: unknown): Attestation | null {
  const bytes = hexToBytesStrict(result);
  const tuple = bytes.subarray(32);
  if (bytes.length < HEAD_BYTES + 64 || readNumber(bytes, 0) !== 32) throw new DecodeError('it is no attestation');
  const head = decodeFields(HEAD, tuple.subarray(0, HEAD_BYTES));
  const length = readNumber(tuple, HEAD.length);
  const data = tuple.subarray(HEAD_BYTES + 32);
  if (head.data !== HEAD_BYTES || data.length !== Math.ceil(length / 32) * 32) throw new DecodeError('its data is cut short, or too long');
  const attestation = { ...head, data: bytesToHexString(data.subarray(0, length)) } as unknown as Attestation;
  return attestation.uid === ZERO_UID ? null : attestation;
}

function readNumber(bytes: Uint8Array, index: number) {
  return Number(decodeFields([{ type: 'uint32', name: 'at' }], getWord(bytes, index)).at);
}

/** The uid that the schema registry computes. */
export function computeSchemaUid(name: keyof typeof SCHEMA_TEXTS) {
  const noResolver = new Uint8Array(20);
  return bytesToHexString(keccak_256(concatBytes(utf8ToBytes(SCHEMA_TEXTS[name]), noResolver, encodeUint(0, 1))));
}

/** The uid that the contract computes from the content. @param bump number of equal attestations before it in the same block */
export function computeAttestationUid(
  { schema, recipient, attester, time, expirationTime, revocable, refUID, data }: Attestation,
  bump: number = 0,
) {
  const packed = concatBytes(
    hexToBytesStrict(schema),
    hexToBytesStrict(recipient),
    hexToBytesStrict(attester),
    encodeUint(time, 8),
    encodeUint(expirationTime, 8),
    encodeUint(revocable ? 1 : 0, 1),
    hexToBytesStrict(refUID),
    hexToBytesStrict(data),
    encodeUint(bump, 4),
  );
  return bytesToHexString(keccak_256(packed));
}

export function isUidOfContent(attestation: Attestation) {
  return Array.from({ length: MAX_EQUAL_ATTESTATIONS }, (_, bump) => bump).some(
    (bump) => computeAttestationUid(attestation, bump) === attestation.uid,
  );
}

/** @throws {DecodeError} */
export function decodePredictionData({ data }: Pick<Attestation, 'data'>) {
  return decodeFields(parseFields(SCHEMA_TEXTS.prediction), hexToBytesStrict(data)) as unknown as PredictionData;
}

/** @throws {DecodeError} */
export function decodeResolutionData({ data }: Pick<Attestation, 'data'>) {
  return decodeFields(parseFields(SCHEMA_TEXTS.resolution), hexToBytesStrict(data)) as unknown as ResolutionData;
}

/**
 * keccak256(abi.encode(salt, signal, direction, confidenceBps, pUpBps, btcPriceCents)).
 * @throws {DecodeError} when a value does not fit its type
 */
export function hashOpening(opening: Opening) {
  return bytesToHexString(keccak_256(encodeFields(parseFields(OPENING_FIELDS), { ...opening })));
}
