import type { OnChainAttestation } from '../chain/attestation-reader.ts';
import { commitmentOf } from '../chain/commitment.ts';
import { decodePrediction, decodeResolution, type PredictionData, type ResolutionData } from '../chain/schemas.ts';
import { isOracleError } from '../errors.ts';
import { directionOutcome } from '../forecast/scoring.ts';
import type { AttestationType } from './attestations.ts';
import type { PredictionVerificationReply } from './schemas/prediction-verification.ts';

export type StatedCheck = PredictionVerificationReply['checks'][number];
type Check = Omit<StatedCheck, 'attestation' | 'what'>;

const OPENED = 'commitment opened by salt and values';

/** What each comparison stands for, as a sentence; fields of the resolution that are told in its own words are named there. */
const MEANINGS: Record<string, string> = {
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
  [OPENED]: 'Salt and values, as they are told, give the commitment.',
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

const REFERENCES: Record<AttestationType, string> = {
  prediction: 'It refers to the prediction of the day before of the same horizon, so that none can be dropped.',
  resolution: 'It refers to the prediction that it resolves.',
};

/** Comparisons of one attestation, each with what it stands for. */
export function stated(attestation: AttestationType, checks: readonly Check[]): StatedCheck[] {
  return checks.map((check) => ({ attestation, what: meaningOf(attestation, check), ...check }));
}

function meaningOf(attestation: AttestationType, { field, expected }: Check): string {
  if (field === 'refUid') return REFERENCES[attestation];
  if (field === 'time' && String(expected).startsWith('void')) return 'It is void, as the record says, and never counts.';
  return MEANINGS[field] ?? `It agrees with the record on ${field}.`;
}

/** An attestation that the record names, and the chain does not have. */
export function notOnChain(attestation: AttestationType, uid: string): StatedCheck[] {
  return stated(attestation, [{ field: 'uid', expected: uid, actual: null, ok: false }]);
}

/** What two attestations say together, by what stands on chain alone: the record is not asked. */
export function checksBetween(prediction: OnChainAttestation, resolution: OnChainAttestation): StatedCheck[] {
  const [committed, opened] = [decoded(() => decodePrediction(prediction.data)), decoded(() => decodeResolution(resolution.data))];
  if (committed === null || opened === null) return [];
  return [opens(committed, opened), isOver(committed, resolution), follows(opened)].map((check) => ({
    attestation: 'resolution' as const,
    ...check,
  }));
}

function opens({ commitment }: PredictionData, opened: ResolutionData): Omit<StatedCheck, 'attestation'> {
  const actual = decoded(() => commitmentOf(opened));
  const what = 'Salt and values in the resolution on chain give the commitment in the prediction on chain.';
  return { field: 'commitment opened on chain', expected: commitment, actual, ok: actual === commitment, what };
}

function isOver({ resolvesAt }: PredictionData, { at }: OnChainAttestation): Omit<StatedCheck, 'attestation'> {
  const what = 'It was made after the outcome window had ended.';
  return { field: 'time', expected: `not before ${resolvesAt.toISOString()}`, actual: at.toISOString(), ok: at >= resolvesAt, what };
}

function follows({ signal, direction, btcAtSignalCents, btcAtResolutionCents, outcome }: ResolutionData): Omit<StatedCheck, 'attestation'> {
  const expected = signal === 'HOLD' ? 'HOLD' : directionOutcome(direction, btcAtSignalCents, btcAtResolutionCents);
  const what = 'The outcome follows from the signal, the direction and the two closes on chain.';
  return { field: 'outcome of the closes', expected, actual: outcome, ok: outcome === expected, what };
}

/** Data that is of no such schema has failed its other checks already. */
function decoded<Data>(decode: () => Data): Data | null {
  try {
    return decode();
  } catch (error) {
    if (isOracleError(error, 'ATTESTATION_MISMATCH') || isOracleError(error, 'INPUT_INVALID')) return null;
    throw error;
  }
}
