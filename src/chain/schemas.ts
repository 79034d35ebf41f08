import { decodeAbiParameters, encodeAbiParameters, encodePacked, type Hex, keccak256, parseAbiParameters, zeroAddress } from 'viem';
import { OracleError } from '../errors.ts';
import {
  bytes32,
  type CommitmentOpening,
  codeOf,
  DIRECTION_CODES,
  nameOf,
  OUTCOME_CODES,
  type OutcomeName,
  SIGNAL_CODES,
  whole,
} from './commitment.ts';

/** EAS schemas of this service: non-revocable, without a resolver. Their text decides their uid: a change is a new schema. */
export const SCHEMAS = {
  prediction:
    'uint64 sequence, uint32 day, uint16 horizonDays, uint64 windowOpensAt, uint64 resolvesAt, bytes32 commitment, bytes32 inputsDigest, bytes32 metadata',
  resolution:
    'bytes32 salt, uint8 signal, uint8 direction, uint16 confidenceBps, uint16 pUpBps, uint64 btcPriceCents, uint64 btcAtSignalCents, uint64 btcAtResolutionCents, int32 returnBps, uint8 outcome',
} as const;

export type SchemaName = keyof typeof SCHEMAS;

/** Which of our schemas' texts these are; a changed text gets a new number. */
export const SCHEMA_VERSION = '1';

/** What is attested before the outcome window opens. */
export interface PredictionData {
  /** Position in the record of this horizon, from 1, without gaps. */
  sequence: number;
  /** Days since 1970-01-01. */
  day: number;
  horizonDays: number;
  /** Whole seconds, as on chain. */
  windowOpensAt: Date;
  resolvesAt: Date;
  /** See `commitmentOf`. */
  commitment: Hex;
  inputsDigest: Hex;
  /** sha2-256 of the public metadata. */
  metadata: Hex;
}

/** What is attested at resolution: what the commitment hid, and what came of it. Prices in US cents. */
export interface ResolutionData extends CommitmentOpening {
  btcAtSignalCents: number;
  btcAtResolutionCents: number;
  /** Return over the window; negative when the price fell. */
  returnBps: number;
  outcome: OutcomeName;
}

const PREDICTION = parseAbiParameters(SCHEMAS.prediction);
const RESOLUTION = parseAbiParameters(SCHEMAS.resolution);
const MAX_UINT16 = 2 ** 16 - 1;
const MAX_UINT32 = 2 ** 32 - 1;
const MAX_INT32 = 2 ** 31 - 1;

/** Uid of a schema, as the registry computes it. */
export function schemaUid(name: SchemaName): Hex {
  return keccak256(encodePacked(['string', 'address', 'bool'], [SCHEMAS[name], zeroAddress, false]));
}

/** @throws OracleError INPUT_INVALID naming a field that is out of range. */
export function encodePrediction(data: PredictionData): Hex {
  return encodeAbiParameters(PREDICTION, [
    BigInt(whole('sequence', data.sequence)),
    whole('day', data.day, MAX_UINT32),
    whole('horizonDays', data.horizonDays, MAX_UINT16),
    BigInt(whole('windowOpensAt', data.windowOpensAt.getTime() / 1000)),
    BigInt(whole('resolvesAt', data.resolvesAt.getTime() / 1000)),
    bytes32('commitment', data.commitment),
    bytes32('inputsDigest', data.inputsDigest),
    bytes32('metadata', data.metadata),
  ]);
}

/** @throws OracleError ATTESTATION_MISMATCH when it is not data of this schema. */
export function decodePrediction(data: Hex): PredictionData {
  const [sequence, day, horizonDays, windowOpensAt, resolvesAt, commitment, inputsDigest, metadata] = decoded('prediction', () =>
    decodeAbiParameters(PREDICTION, data),
  );
  const times = { windowOpensAt: new Date(Number(windowOpensAt) * 1000), resolvesAt: new Date(Number(resolvesAt) * 1000) };
  return { sequence: Number(sequence), day, horizonDays, ...times, commitment, inputsDigest, metadata };
}

/** @throws OracleError INPUT_INVALID naming a field that is out of range. */
export function encodeResolution(data: ResolutionData): Hex {
  return encodeAbiParameters(RESOLUTION, [
    bytes32('salt', data.salt),
    codeOf('signal', SIGNAL_CODES, data.signal),
    codeOf('direction', DIRECTION_CODES, data.direction),
    whole('confidenceBps', data.confidenceBps, MAX_UINT16),
    whole('pUpBps', data.pUpBps, MAX_UINT16),
    BigInt(whole('btcPriceCents', data.btcPriceCents)),
    BigInt(whole('btcAtSignalCents', data.btcAtSignalCents)),
    BigInt(whole('btcAtResolutionCents', data.btcAtResolutionCents)),
    whole('returnBps', data.returnBps, MAX_INT32, -MAX_INT32 - 1),
    codeOf('outcome', OUTCOME_CODES, data.outcome),
  ]);
}

/** @throws OracleError ATTESTATION_MISMATCH when it is not data of this schema. */
export function decodeResolution(data: Hex): ResolutionData {
  return decoded('resolution', () => {
    const [salt, signal, direction, confidenceBps, pUpBps, price, atSignal, atResolution, returnBps, outcome] = decodeAbiParameters(
      RESOLUTION,
      data,
    );
    return {
      salt,
      signal: nameOf('signal', SIGNAL_CODES, signal),
      direction: nameOf('direction', DIRECTION_CODES, direction),
      confidenceBps,
      pUpBps,
      btcPriceCents: Number(price),
      btcAtSignalCents: Number(atSignal),
      btcAtResolutionCents: Number(atResolution),
      returnBps,
      outcome: nameOf('outcome', OUTCOME_CODES, outcome),
    };
  });
}

function decoded<T>(name: SchemaName, decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    throw new OracleError('ATTESTATION_MISMATCH', `The data is not that of a ${name}`, { cause });
  }
}
