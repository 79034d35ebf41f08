import type { Hex } from 'viem';
import type { Caller } from '../../auth/caller.ts';
import type { ChainAddresses } from '../../chain/addresses.ts';
import { EAS_SCHEMAS, getSchemaUid, type SchemaName } from '../../chain/eas/attestation-schemas.ts';
import { DIRECTION_CODES, OUTCOME_CODES, SIGNAL_CODES } from '../../chain/eas/commitment.ts';
import { formatDay } from '../../forecast/day.ts';
import { OracleError } from '../../platform/errors.ts';
import { getCheck } from '../../verify/catalogue.ts';
import { checkForecastEvidence } from '../../verify/check-forecast-evidence.ts';
import { createFindings } from '../../verify/findings.ts';
import { formatForecastVerdict, getVerdict } from '../../verify/summary.ts';
import { type AttestationType, findAttestation } from '../attestations/find-attestation.ts';
import { viewSalt } from '../attestations/view.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import { COMMITMENT_FORMULA } from '../oracle/commitment-proof.ts';
import type { PredictionVerificationReply } from '../schemas/prediction-verification.ts';
import { toScorecardEntry } from '../scorecard/scorecard.ts';
import { buildForecastEvidence, getExplorerUrl, toChecks } from './forecast-evidence.ts';
import { type AttestationVerificationDeps, foreignAttestationError } from './verify-attestation.ts';

export interface PredictionVerificationDeps extends AttestationVerificationDeps {
  addresses: ChainAddresses;
}

/** A forecast by attestation uid, or by id (`YYYY-MM-DD:<h>d`) with the name of the input field for errors. */
export type PredictionReference = { uid: Hex } | { predictionId: string; field: string };

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
  const [options, now] = [deps.viewFor(caller), deps.now()];
  const read = await readAttestations(deps, doc);
  const findings = createFindings();
  const evidence = buildForecastEvidence(deps, doc, { read, caller });
  const row = checkForecastEvidence(evidence, { attester: deps.attesterAddress, now }, findings);
  const { list } = findings;
  const checks = toChecks(list);
  return {
    asOf: now.toISOString(),
    verified: getVerdict(list) === 'pass',
    verdict: formatForecastVerdict(list, row),
    agreeing: checks.filter(({ ok }) => ok).length,
    checked: checks.length,
    checks,
    unchecked: list
      .filter(({ outcome }) => outcome === 'unknown')
      .map(({ check, subject, because }) => {
        return { attestation: subject.attestation ?? 'prediction', what: getCheck(check).title.toLowerCase(), reason: because };
      }),
    attestations: read.map(({ type, uid, onChain }) => {
      const block = { blockTime: onChain?.at.toISOString() ?? null, attester: onChain?.attester ?? null };
      return { type, uid, onChain: onChain !== null, ...block, easscanUrl: getExplorerUrl(deps, uid) };
    }),
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

async function readAttestations({ attestations }: PredictionVerificationDeps, { attestation, reveal }: ForecastDoc) {
  const known = Object.entries({ prediction: attestation, resolution: reveal }) as [AttestationType, { uid: Hex } | null][];
  const reads = known.map(async ([type, made]) => made && { type, uid: made.uid, onChain: await attestations.read(made.uid) });
  return (await Promise.all(reads)).filter((one) => one !== null);
}

const describeSchema = (name: SchemaName) => ({ uid: getSchemaUid(name), fields: EAS_SCHEMAS[name] });

const formatCodes = (codes: Record<string, number>) =>
  Object.entries(codes)
    .map(([word, code]) => `${word} ${code}`)
    .join(', ');

type ManualVerificationDeps = Pick<PredictionVerificationDeps, 'chainId' | 'addresses' | 'attesterAddress'>;

/** What a verifier needs to check forecasts without this service. */
export function describeManualVerification({ chainId, addresses, attesterAddress }: ManualVerificationDeps) {
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
