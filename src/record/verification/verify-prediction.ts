import type { Hex } from 'viem';
import type { Caller } from '../../auth/caller.ts';
import type { ChainAddresses } from '../../chain/addresses.ts';
import type { OnChainAttestation } from '../../chain/eas/attestation-reader.ts';
import { EAS_SCHEMAS, getSchemaUid, type SchemaName } from '../../chain/eas/attestation-schemas.ts';
import { DIRECTION_CODES, OUTCOME_CODES, SIGNAL_CODES } from '../../chain/eas/commitment.ts';
import { formatDay } from '../../forecast/day.ts';
import { OracleError } from '../../platform/errors.ts';
import { type AttestationType, findAttestation } from '../attestations/find-and-count.ts';
import { viewSalt } from '../attestations/view.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import { mayRead } from '../forecast-visibility.ts';
import { COMMITMENT_FORMULA } from '../oracle/commitment-proof.ts';
import type { PredictionVerificationReply } from '../schemas/prediction-verification.ts';
import { toScorecardEntry } from '../scorecard/scorecard.ts';
import { crossCheckAttestations, type DescribedCheck, describeChecks, describeNotOnChain } from './prediction-checks.ts';
import { type AttestationVerificationDeps, checkAgainstRecord, foreignAttestationError } from './verify-attestation.ts';

export interface PredictionVerificationDeps extends AttestationVerificationDeps {
  addresses: ChainAddresses;
  now(): Date;
}

/** A forecast by attestation uid, or by id (`YYYY-MM-DD:<h>d`) with the name of the input field for errors. */
export type PredictionReference = { uid: Hex } | { predictionId: string; field: string };

interface ChainAttestation {
  type: AttestationType;
  uid: Hex;
  onChain: OnChainAttestation | null;
}

type Unchecked = PredictionVerificationReply['unchecked'];

/**
 * Verifies a forecast on chain: prediction and resolution against the record and against each other, and the commitment against the values
 * where the caller may read them.
 * @throws OracleError NOT_FOUND, CHAIN_UNREACHABLE
 */
export async function verifyPrediction(
  deps: PredictionVerificationDeps,
  reference: PredictionReference,
  caller: Caller,
): Promise<PredictionVerificationReply> {
  const doc = 'uid' in reference ? await findByAttestation(deps, reference.uid) : await findById(deps, reference);
  const attestations = await readAttestations(deps, doc);
  const checks = runChecks(deps, doc, { attestations, caller });
  const unchecked = listUnchecked(deps, doc, caller);
  const agreeing = checks.filter(({ ok }) => ok).length;
  const options = deps.viewFor(caller);
  return {
    asOf: deps.now().toISOString(),
    verified: doc.attestation !== null && agreeing === checks.length,
    verdict: formatVerificationVerdict(doc, checks, unchecked),
    agreeing,
    checked: checks.length,
    checks,
    unchecked,
    attestations: attestations.map((one) => toAttestationReply(deps, one)),
    prediction: { ...toScorecardEntry(doc, options), commitment: doc.commitment, salt: viewSalt(doc, options) },
    byHand: describeManualVerification(deps),
  };
}

/** @throws OracleError NOT_FOUND for a uid that is not on chain or not in the record */
async function findByAttestation(deps: PredictionVerificationDeps, uid: Hex): Promise<ForecastDoc> {
  const known = await findAttestation(deps.record, uid);
  if (known !== null) return known.doc;
  const onChain = await deps.attestations.read(uid);
  if (onChain !== null) throw foreignAttestationError(onChain, deps.chainId);
  throw new OracleError('NOT_FOUND', `There is no attestation ${uid} on chain ${deps.chainId}`, {
    field: 'uid',
    suggestedAction: 'Take a uid from the track record or from the history of attestations.',
  });
}

async function findById({ record }: PredictionVerificationDeps, { predictionId, field }: { predictionId: string; field: string }) {
  const [doc] = await record.listByIds([predictionId]);
  if (doc !== undefined) return doc;
  const [first, last] = [await record.findGenesisDay(), await record.findLastDay()];
  const range = first === null || last === null ? 'has no day yet' : `runs from ${formatDay(first)} to ${formatDay(last)}`;
  throw new OracleError('NOT_FOUND', `There is no forecast ${predictionId}`, {
    field,
    suggestedAction: `The record ${range}: name a day in it, or take an id or uid from the track record.`,
  });
}

async function readAttestations(
  { attestations }: PredictionVerificationDeps,
  { attestation, reveal }: ForecastDoc,
): Promise<ChainAttestation[]> {
  const known = [
    ...(attestation === null ? [] : [{ type: 'prediction' as const, uid: attestation.uid }]),
    ...(reveal === null ? [] : [{ type: 'resolution' as const, uid: reveal.uid }]),
  ];
  return Promise.all(known.map(async ({ type, uid }) => ({ type, uid, onChain: await attestations.read(uid) })));
}

function runChecks(
  deps: PredictionVerificationDeps,
  doc: ForecastDoc,
  { attestations, caller }: { attestations: ChainAttestation[]; caller: Caller },
): DescribedCheck[] {
  const [prediction, resolution] = attestations.map(({ onChain }) => onChain);
  return [
    ...attestations.flatMap(({ type, uid, onChain }) =>
      onChain === null ? describeNotOnChain(type, uid) : describeChecks(type, checkAgainstRecord(deps, onChain, { doc, type }, caller)),
    ),
    ...(prediction && resolution ? crossCheckAttestations(prediction, resolution) : []),
  ];
}

/** Checks that have to wait, from public data only: calendar and chain. */
function listUnchecked(deps: PredictionVerificationDeps, doc: ForecastDoc, caller: Caller): Unchecked {
  const { attestation, reveal, values, state, windowOpensAt, resolvesAt } = doc;
  const unchecked: Unchecked = [];
  const add = (type: AttestationType, what: string, reason: string) => unchecked.push({ attestation: type, what, reason });
  if (attestation === null) {
    add('prediction', 'the prediction on chain', `it is not on chain yet: it has to be before ${windowOpensAt.toISOString()}`);
  }
  if (values === null) add('prediction', 'that values open the commitment', 'nothing was forecast on that day: there are none');
  else if (!mayRead(doc, deps.viewFor(caller))) {
    const until = `until its outcome is on chain, not before ${resolvesAt.toISOString()}`;
    add('prediction', 'that values open the commitment', `the values are gated ${until}; callers of the Basic tier may read them at once`);
  }
  if (reveal === null) {
    const pending = `its outcome is not on chain yet: its window ends at ${resolvesAt.toISOString()}`;
    add('resolution', 'the outcome', state === 'VOID' ? 'it is void: it never counts, and is never resolved' : pending);
  }
  return unchecked;
}

function formatVerificationVerdict(doc: ForecastDoc, checks: readonly DescribedCheck[], unchecked: Unchecked): string {
  const wrong = checks.filter(({ ok }) => !ok).map(({ attestation, field }) => `${attestation} ${field}`);
  if (checks.length === 0) return 'nothing could be checked: the prediction is not on chain yet';
  if (wrong.length > 0) return `${wrong.length} of ${checks.length} checks FAIL (${wrong.join(', ')}): do not rely on this entry`;
  const agree = `${checks.length} of ${checks.length} checks agree`;
  const open = unchecked.length === 0 ? 'nothing is left unchecked' : `not checked: ${unchecked.map(({ what }) => what).join('; ')}`;
  return `${agree}: ${describeAgreement(doc)}; ${open}`;
}

function describeAgreement({ state, reveal }: ForecastDoc): string {
  if (state === 'VOID') return 'the forecast is void, as the record says, and never counts';
  const committed = 'the forecast was on chain before its outcome window opened';
  return reveal === null ? committed : `${committed}, and what was revealed is what it had committed to`;
}

function toAttestationReply(
  { explorerUrl }: PredictionVerificationDeps,
  { type, uid, onChain }: ChainAttestation,
): PredictionVerificationReply['attestations'][number] {
  return {
    type,
    uid,
    onChain: onChain !== null,
    blockTime: onChain?.at.toISOString() ?? null,
    attester: onChain?.attester ?? null,
    easscanUrl: explorerUrl === null ? null : `${explorerUrl}/attestation/view/${uid}`,
  };
}

const describeSchema = (name: SchemaName) => ({ uid: getSchemaUid(name), fields: EAS_SCHEMAS[name] });

const formatCodes = (codes: Record<string, number>) =>
  Object.entries(codes)
    .map(([word, code]) => `${word} ${code}`)
    .join(', ');

/** What a verifier needs to check forecasts without this service. */
export function describeManualVerification({
  chainId,
  addresses,
  attesterAddress,
}: Pick<PredictionVerificationDeps, 'chainId' | 'addresses' | 'attesterAddress'>): PredictionVerificationReply['byHand'] {
  return {
    chain: `eip155:${chainId}`,
    easContract: addresses.eas,
    attester: attesterAddress,
    predictionSchema: describeSchema('prediction'),
    resolutionSchema: describeSchema('resolution'),
    formula: COMMITMENT_FORMULA,
    codes: `signal: ${formatCodes(SIGNAL_CODES)}; direction: ${formatCodes(DIRECTION_CODES)}; outcome: ${formatCodes(OUTCOME_CODES)}`,
    steps: [
      'Call getAttestation(uid) of the prediction on the EAS contract; compare attester and schema with those here.',
      'Decode its data by the fields of the schema: time has to be before windowOpensAt.',
      'Follow refUID from day to day: sequence goes down by one each time, to 1, without a gap.',
      'Once it is resolved, do the same with the resolution: its refUID is the prediction.',
      'Hash salt and values of the resolution by the formula: the result is the commitment of the prediction.',
      'Compare the two closes with public daily closes of BTC/USD (00:00 UTC): UP wins if the later one is higher.',
    ],
  };
}
