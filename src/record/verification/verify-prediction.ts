import type { Hex } from 'viem';
import type { Caller } from '../../auth/caller.ts';
import type { ChainAddresses } from '../../chain/addresses.ts';
import { formatDay } from '../../forecast/day.ts';
import { OracleError } from '../../platform/errors.ts';
import { getCheck } from '../../verify/catalogue.ts';
import { formatForecastVerdict, getVerdict } from '../../verify/summary.ts';
import { viewSalt } from '../attestations/view.ts';
import { describeManualVerification } from '../oracle/manual-verification.ts';
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
