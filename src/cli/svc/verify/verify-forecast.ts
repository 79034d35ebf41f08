import {
  collectForecastEvidence,
  type ForecastQuery,
  type ForecastSearch,
  findForecast,
} from '../../../audit/collect-forecast-evidence.ts';
import { checkForecastEvidence } from '../../../verify/check-forecast-evidence.ts';
import type { CheckedRow } from '../../../verify/checks/forecast.ts';
import { toSubject } from '../../../verify/checks/prediction.ts';
import { createFindings, type Findings, NO_SUBJECT } from '../../../verify/findings.ts';
import { describeQuery } from './forecast-query.ts';

export interface ForecastVerification {
  /** Null: no readable prediction of the query is on chain. */
  row: CheckedRow | null;
  findings: Findings;
}

/**
 * Reads a forecast from the chain and checks everything that the chain shows about it.
 * @throws OracleError CHAIN_UNREACHABLE, FEED_UNAVAILABLE, FEED_INVALID
 */
export async function verifyForecast(search: ForecastSearch, query: ForecastQuery): Promise<ForecastVerification> {
  const findings = createFindings();
  const found = await findForecast(search, query);
  if (found === null) {
    const because = `no readable ${describeQuery(query)} of this attester is on chain`;
    findings.fail('found', NO_SUBJECT, { field: 'uid', expected: 'an attestation', actual: null, because });
    return { row: null, findings };
  }
  if (found.note !== undefined) findings.note(found.note);
  const row = checkForecastEvidence(await collectForecastEvidence(search, found.uid), search, findings);
  const rest = 'the rest of the record was not read: svc verify all, or svc audit';
  if (row !== null) findings.leave('sequence', toSubject(row.prediction), rest, false);
  return { row, findings };
}
