import type { OnChainAttestation } from '../../chain/eas/attestation-reader.ts';
import { decodePrediction, decodeResolution, type PredictionData, type ResolutionData } from '../../chain/eas/attestation-schemas.ts';
import { computeCommitment } from '../../chain/eas/commitment.ts';
import { scoreDirection } from '../../forecast/scoring.ts';
import { isOracleError } from '../../platform/errors.ts';
import type { AttestationType } from '../attestations/find-and-count.ts';
import type { PredictionVerificationReply } from '../schemas/prediction-verification.ts';

export type DescribedCheck = PredictionVerificationReply['checks'][number];
type BareCheck = Omit<DescribedCheck, 'attestation' | 'what'>;

const OPENING_FIELD = 'commitment opened by salt and values';

/** Description of each compared field. */
const FIELD_MEANINGS: Record<string, string> = {
  uid: 'The chain has an attestation of this uid.',
  attester: "It was made by this service's wallet.",
  schemaName: 'It has the expected schema.',
  revoked: 'It was not revoked.',
  sequence: 'It has the next sequence number of its horizon: none is skipped.',
  day: 'It is of the recorded day (days since 1970-01-01).',
  horizonDays: 'It is of the recorded horizon.',
  windowOpensAt: 'The outcome window opens at the recorded time.',
  resolvesAt: 'The outcome window ends at the recorded time.',
  commitment: 'It commits to the recorded values.',
  inputsDigest: "It names the digest of the forecast's inputs.",
  metadata: 'It names the digest of the published metadata.',
  time: 'It was on chain before the outcome window opened.',
  [OPENING_FIELD]: 'The salt and values in this response give the commitment.',
  salt: 'It carries the recorded salt.',
  signal: 'It carries the recorded signal.',
  direction: 'It carries the recorded direction.',
  confidenceBps: 'It carries the recorded confidence, in basis points.',
  pUpBps: 'It carries the recorded probability of a rise, in basis points.',
  btcPriceCents: 'It carries the recorded price at signal time, in cents.',
  btcAtSignalCents: 'It carries the recorded close at window open, in cents.',
  btcAtResolutionCents: 'It carries the recorded close at resolution, in cents.',
  returnBps: 'It carries the recorded return, in basis points.',
  outcome: 'It carries the recorded outcome.',
};

const REFERENCE_MEANINGS: Record<AttestationType, string> = {
  prediction: "It refers to the previous day's prediction of the same horizon, so that none can be dropped.",
  resolution: 'It refers to the prediction that it resolves.',
};

export function describeChecks(attestation: AttestationType, checks: readonly BareCheck[]): DescribedCheck[] {
  return checks.map((check) => ({ attestation, what: describeCheck(attestation, check), ...check }));
}

function describeCheck(attestation: AttestationType, { field, expected }: BareCheck): string {
  if (field === 'refUid') return REFERENCE_MEANINGS[attestation];
  if (field === 'time' && String(expected).startsWith('void')) return 'It is void, as recorded, and never counts.';
  return FIELD_MEANINGS[field] ?? `It matches the record in ${field}.`;
}

/** An attestation of the record that is missing on chain. */
export function describeNotOnChain(attestation: AttestationType, uid: string): DescribedCheck[] {
  return describeChecks(attestation, [{ field: 'uid', expected: uid, actual: null, ok: false }]);
}

/** Compares both attestations using on-chain data only. */
export function crossCheckAttestations(prediction: OnChainAttestation, resolution: OnChainAttestation): DescribedCheck[] {
  const [committed, opening] = [
    decodeOrNull(() => decodePrediction(prediction.data)),
    decodeOrNull(() => decodeResolution(resolution.data)),
  ];
  if (committed === null || opening === null) return [];
  return [checkOpeningOnChain(committed, opening), checkAfterWindow(committed, resolution), checkOutcomeOfCloses(opening)].map((check) => ({
    attestation: 'resolution' as const,
    ...check,
  }));
}

function checkOpeningOnChain({ commitment }: PredictionData, opening: ResolutionData): Omit<DescribedCheck, 'attestation'> {
  const actual = decodeOrNull(() => computeCommitment(opening));
  const what = 'Salt and values in the resolution on chain give the commitment in the prediction on chain.';
  return { field: 'commitment opened on chain', expected: commitment, actual, ok: actual === commitment, what };
}

function checkAfterWindow({ resolvesAt }: PredictionData, { at }: OnChainAttestation): Omit<DescribedCheck, 'attestation'> {
  const what = 'It was made after the outcome window had ended.';
  return { field: 'time', expected: `not before ${resolvesAt.toISOString()}`, actual: at.toISOString(), ok: at >= resolvesAt, what };
}

function checkOutcomeOfCloses({
  signal,
  direction,
  btcAtSignalCents,
  btcAtResolutionCents,
  outcome,
}: ResolutionData): Omit<DescribedCheck, 'attestation'> {
  const expected = signal === 'HOLD' ? 'HOLD' : scoreDirection(direction, btcAtSignalCents, btcAtResolutionCents);
  const what = 'The outcome follows from the signal, the direction and the two closes on chain.';
  return { field: 'outcome of the closes', expected, actual: outcome, ok: outcome === expected, what };
}

/** Data of another schema has already failed the field checks. */
function decodeOrNull<Data>(decode: () => Data): Data | null {
  try {
    return decode();
  } catch (error) {
    if (isOracleError(error, 'ATTESTATION_MISMATCH') || isOracleError(error, 'INPUT_INVALID')) return null;
    throw error;
  }
}
