import type { Caller } from '../../auth/caller.ts';
import { getCheck } from '../../verify/catalogue.ts';
import { formatForecastVerdict, getVerdict } from '../../verify/summary.ts';
import { findForecast, type PredictionReference } from '../attestations/find-forecast.ts';
import { viewSalt } from '../attestations/view.ts';
import { describeManualVerification } from '../oracle/manual-verification.ts';
import type { PredictionVerificationReply } from '../schemas/prediction-verification.ts';
import { toScorecardEntry } from '../scorecard/scorecard.ts';
import { checkRecordedForecast, type RecordCheckDeps, toChecks } from './forecast-evidence.ts';

/**
 * Verifies a forecast on chain: prediction and resolution against the record and against each other, and the commitment against the values
 * where the caller may read them.
 * @throws OracleError NOT_FOUND, CHAIN_UNREACHABLE
 */
export async function verifyPrediction(deps: RecordCheckDeps, reference: PredictionReference, caller: Caller) {
  const doc = await findForecast(deps, reference);
  const { now, read, row, distributions, findings } = await checkRecordedForecast(deps, doc, caller);
  const options = deps.viewFor(caller);
  const checks = toChecks(findings);
  const left = findings.filter(({ outcome }) => outcome === 'unknown');
  return {
    asOf: now.toISOString(),
    verified: getVerdict(findings) === 'pass',
    verdict: formatForecastVerdict(findings, row),
    agreeing: checks.filter(({ ok }) => ok).length,
    checked: checks.length,
    checks,
    unchecked: left.map(({ check, subject: { attestation = 'prediction' }, because: reason }) => {
      return { attestation, what: getCheck(check).title.toLowerCase(), reason };
    }),
    attestations: read.map(({ onChain, ...one }) => {
      return { ...one, onChain: onChain !== null, blockTime: onChain?.at.toISOString() ?? null, attester: onChain?.attester ?? null };
    }),
    prediction: { ...toScorecardEntry(doc, options), commitment: doc.commitment, salt: viewSalt(doc, options) },
    distributions,
    byHand: describeManualVerification(deps),
  } satisfies PredictionVerificationReply;
}
