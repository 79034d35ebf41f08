import { encodeAbiParameters, type Hex, keccak256, parseAbiParameters } from 'viem';
import { OracleError } from '../../platform/errors.ts';

/** On-chain codes of names. Never renumber: attestations are permanent. */
export const SIGNAL_CODES = { HOLD: 0, BUY: 1, SELL: 2 } as const;
export const DIRECTION_CODES = { UP: 1, DOWN: 2 } as const;
export const OUTCOME_CODES = { HOLD: 0, WIN: 1, LOSS: 2 } as const;

export type SignalName = keyof typeof SIGNAL_CODES;
export type DirectionName = keyof typeof DIRECTION_CODES;
export type OutcomeName = keyof typeof OUTCOME_CODES;

export interface CommitmentOpening {
  /** 32 bytes; see `deriveSalt`. */
  salt: Hex;
  signal: SignalName;
  direction: DirectionName;
  /** Calibrated probability of the direction, 0 to 10,000. */
  confidenceBps: number;
  /** Probability of UP, 0 to 10,000. */
  pUpBps: number;
  btcPriceCents: number;
}

const OPENING_PARAMETERS = parseAbiParameters(
  'bytes32 salt, uint8 signal, uint8 direction, uint16 confidenceBps, uint16 pUpBps, uint64 btcPriceCents',
);
const MAX_BPS = 10_000;

/** keccak256(abi.encode(salt, signal, direction, confidenceBps, pUpBps, btcPriceCents)). @throws OracleError INPUT_INVALID naming a field */
export function computeCommitment(opening: CommitmentOpening): Hex {
  return keccak256(encodeOpening(opening));
}

/** @throws OracleError INPUT_INVALID naming a field that is out of range. */
export function encodeOpening(opening: CommitmentOpening): Hex {
  return encodeAbiParameters(OPENING_PARAMETERS, [
    requireBytes32('salt', opening.salt),
    encodeName('signal', SIGNAL_CODES, opening.signal),
    encodeName('direction', DIRECTION_CODES, opening.direction),
    requireWholeNumber('confidenceBps', opening.confidenceBps, MAX_BPS),
    requireWholeNumber('pUpBps', opening.pUpBps, MAX_BPS),
    BigInt(requireWholeNumber('btcPriceCents', opening.btcPriceCents)),
  ]);
}

/** @throws OracleError INPUT_INVALID for a name without a code. */
export function encodeName<Name extends string>(field: string, codes: Record<Name, number>, name: Name): number {
  if (!Object.hasOwn(codes, name)) throw invalidField(field, `"${name}" is none of ${Object.keys(codes).join(', ')}`);
  return codes[name];
}

/** @throws OracleError INPUT_INVALID for an unknown code. */
export function decodeCode<Name extends string>(field: string, codes: Record<Name, number>, code: number): Name {
  const name = (Object.keys(codes) as Name[]).find((key) => codes[key] === code);
  if (name === undefined) throw invalidField(field, `${code} is none of the codes ${Object.values(codes).join(', ')}`);
  return name;
}

/** @throws OracleError INPUT_INVALID unless `value` is an integer from `min` to `max` */
export function requireWholeNumber(field: string, value: number, max = Number.MAX_SAFE_INTEGER, min = 0): number {
  if (!Number.isSafeInteger(value) || value < min || value > max) {
    throw invalidField(field, `${value} is not a whole number from ${min} to ${max}`);
  }
  return value;
}

/** @throws OracleError INPUT_INVALID unless `value` is 32 bytes in hex */
export function requireBytes32(field: string, value: Hex): Hex {
  if (!/^0x[0-9a-fA-F]{64}$/.test(value)) throw invalidField(field, 'it must be 0x and 64 hex characters');
  return value;
}

function invalidField(field: string, why: string): OracleError {
  return new OracleError('INPUT_INVALID', `${field}: ${why}`, { field });
}
