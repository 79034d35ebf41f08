import type { Hex } from 'viem';
import type { Caller } from '../../auth/caller.ts';
import type { ChainAddresses } from '../../chain/addresses.ts';
import { EAS_SCHEMAS, getSchemaUid, type SchemaName } from '../../chain/eas/attestation-schemas.ts';
import { DIRECTION_CODES, OUTCOME_CODES, SIGNAL_CODES } from '../../chain/eas/commitment.ts';
import { formatDay } from '../../forecast/day.ts';
import { OracleError } from '../../platform/errors.ts';
import { getCheck } from '../../verify/catalogue.ts';
import { formatForecastVerdict, getVerdict } from '../../verify/summary.ts';
import { viewSalt } from '../attestations/view.ts';
import { COMMITMENT_FORMULA } from '../oracle/commitment-proof.ts';
import type { PredictionVerificationReply } from '../schemas/prediction-verification.ts';
import { toScorecardEntry } from '../scorecard/scorecard.ts';
import { checkRecordedForecast, findByAttestation, getExplorerUrl, type RecordCheckDeps, toChecks } from './forecast-evidence.ts';

export interface PredictionVerificationDeps extends RecordCheckDeps {
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
  const doc = 'uid' in reference ? (await findByAttestation(deps, reference.uid)).doc : await findById(deps, reference);
  const { now, read, row, findings } = await checkRecordedForecast(deps, doc, caller);
  const options = deps.viewFor(caller);
  const checks = toChecks(findings);
  return {
    asOf: now.toISOString(),
    verified: getVerdict(findings) === 'pass',
    verdict: formatForecastVerdict(findings, row),
    agreeing: checks.filter(({ ok }) => ok).length,
    checked: checks.length,
    checks,
    unchecked: findings
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
