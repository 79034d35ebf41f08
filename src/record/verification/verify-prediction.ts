import type { Caller } from '../../auth/caller.ts';
import type { ChainAddresses } from '../../chain/addresses.ts';
import { getCheck } from '../../verify/catalogue.ts';
import { formatForecastVerdict, getVerdict } from '../../verify/summary.ts';
import { findForecast, type PredictionReference } from '../attestations/find-forecast.ts';
import { viewSalt } from '../attestations/view.ts';
import { describeManualVerification } from '../oracle/manual-verification.ts';
import type { PredictionVerificationReply } from '../schemas/prediction-verification.ts';
import { toScorecardEntry } from '../scorecard/scorecard.ts';
import { checkRecordedForecast, getExplorerUrl, type RecordCheckDeps, toChecks } from './forecast-evidence.ts';

export interface PredictionVerificationDeps extends RecordCheckDeps {
  addresses: ChainAddresses;
}

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
  const doc = await findForecast(deps, reference);
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
