import type { OnChainAttestation } from '../../chain/eas/attestation-reader.ts';
import { computeCommitment } from '../../chain/eas/commitment.ts';
import { decodePrediction, decodeResolution, type PredictionData, type ResolutionData } from '../../chain/eas/schemas.ts';
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
  schemaName: 'It has the schema that it should have.',
  revoked: 'It was not revoked.',
  sequence: 'It has the next place in the record of its horizon: none is left out.',
  day: 'It is of the day that the record says (days since 1970-01-01).',
  horizonDays: 'It is of the horizon that the record says.',
  windowOpensAt: 'The outcome window opens when the record says.',
  resolvesAt: 'The outcome window ends when the record says.',
  commitment: 'It commits to the values that the record holds.',
  inputsDigest: 'It names the digest of the inputs that the forecast was made from.',
  metadata: 'It names the digest of the published metadata.',
  time: 'It was on chain before the outcome window opened.',
  [OPENING_FIELD]: 'Salt and values, as they are told, give the commitment.',
  salt: 'It carries the salt of the record.',
  signal: 'It carries the signal of the record.',
  direction: 'It carries the direction of the record.',
  confidenceBps: 'It carries the confidence of the record, in basis points.',
  pUpBps: 'It carries the probability of a rise of the record, in basis points.',
  btcPriceCents: 'It carries the price at signal time of the record, in cents.',
  btcAtSignalCents: 'It carries the close at window open of the record, in cents.',
  btcAtResolutionCents: 'It carries the close at resolution of the record, in cents.',
  returnBps: 'It carries the return of the record, in basis points.',
  outcome: 'It carries the outcome of the record.',
};

const REFERENCE_MEANINGS: Record<AttestationType, string> = {
  prediction: 'It refers to the prediction of the day before of the same horizon, so that none can be dropped.',
  resolution: 'It refers to the prediction that it resolves.',
};

export function describeChecks(attestation: AttestationType, checks: readonly BareCheck[]): DescribedCheck[] {
  return checks.map((check) => ({ attestation, what: describeCheck(attestation, check), ...check }));
}

function describeCheck(attestation: AttestationType, { field, expected }: BareCheck): string {
  if (field === 'refUid') return REFERENCE_MEANINGS[attestation];
  if (field === 'time' && String(expected).startsWith('void')) return 'It is void, as the record says, and never counts.';
  return FIELD_MEANINGS[field] ?? `It agrees with the record on ${field}.`;
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
