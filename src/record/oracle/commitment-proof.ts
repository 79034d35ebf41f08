import { DIRECTION_CODES, SIGNAL_CODES } from '../../chain/eas/commitment.ts';
import { buildOpening } from '../commitment/commitment.ts';
import type { MadeForecast } from './made-forecast.ts';

export const COMMITMENT_FORMULA =
  'keccak256(abi.encode(bytes32 salt, uint8 signal, uint8 direction, uint16 confidenceBps, uint16 pUpBps, uint64 btcPriceCents))';

export type CommitmentProof = ReturnType<typeof buildCommitmentProof>;

/** Only for callers that may read the forecast. */
export function buildCommitmentProof(
  { _id, values, commitment, attestation }: MadeForecast,
  options: { saltSecret: string; publicUrl: string },
) {
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
