import type { Hex } from 'viem';
import { DIRECTION_CODES, SIGNAL_CODES } from '../../chain/eas/commitment.ts';
import { buildOpening } from '../commitment/commitment.ts';
import type { MadeForecast } from './made-forecast.ts';

/** How the commitment is made of what `opening` holds, in this order. */
export const COMMITMENT_FORMULA =
  'keccak256(abi.encode(bytes32 salt, uint8 signal, uint8 direction, uint16 confidenceBps, uint16 pUpBps, uint64 btcPriceCents))';

/** What lets a buyer check what he was told against the chain. */
export interface CommitmentProof {
  commitment: Hex;
  salt: Hex;
  /** The committed values, as the numbers that are encoded. */
  opening: { salt: Hex; signal: number; direction: number; confidenceBps: number; pUpBps: number; btcPriceCents: number };
  formula: string;
  /** Of the prediction attestation; null until it is on chain. */
  attestationUid: Hex | null;
  txHash: Hex | null;
  /** Block time, ISO 8601. */
  attestedAt: string | null;
  /** Where the service checks the attestation field by field. */
  verifyUrl: string | null;
}

/** Opens the commitment of a forecast: for those only who may read it. */
export function buildCommitmentProof(
  { _id, values, commitment, attestation }: MadeForecast,
  options: { saltSecret: string; publicUrl: string },
): CommitmentProof {
  const { salt, signal, direction, confidenceBps, pUpBps, btcPriceCents } = buildOpening(options.saltSecret, _id, values);
  const codes = { signal: SIGNAL_CODES[signal], direction: DIRECTION_CODES[direction] };
  return {
    commitment,
    salt,
    opening: { salt, ...codes, confidenceBps, pUpBps, btcPriceCents },
    formula: COMMITMENT_FORMULA,
    attestationUid: attestation?.uid ?? null,
    txHash: attestation?.txHash ?? null,
    attestedAt: attestation?.at.toISOString() ?? null,
    verifyUrl: attestation === null ? null : `${options.publicUrl}/api/svc/onchain-oracle/verify/${attestation.uid}`,
  };
}
