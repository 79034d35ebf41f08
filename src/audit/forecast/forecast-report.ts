import { formatDay } from '../../forecast/day.ts';
import type { CheckedRow } from '../../verify/checks/forecast.ts';
import { formatInstant } from '../../verify/findings.ts';
import { formatForecastVerdict, getVerdict, tallyChecks } from '../../verify/summary.ts';
import type { AuditChain } from '../chain/audit-chain.ts';
import { listDifferences, listGaps } from '../report/audit-report.ts';
import type { ForecastVerification } from './verify-forecast.ts';

/** Where the record was read. `takenFromService`: parts that only the service has named. */
interface ReportedLocation {
  chain: Pick<AuditChain, 'chainId' | 'addresses'>;
  attester: string;
  /** Host of the endpoint, as its URL may contain a key. */
  endpoint: string;
  takenFromService: ('attester' | 'endpoint' | 'eas')[];
}

const VERDICTS = { pass: 'verified', fail: 'differs', unknown: 'incomplete' } as const;

export type ForecastReport = ReturnType<typeof buildForecastReport>;

/** What `--json` prints, and the text is rendered from. */
export function buildForecastReport({ row, findings: { list, notes } }: ForecastVerification, location: ReportedLocation) {
  const { chain, attester, endpoint, takenFromService } = location;
  const verdict = VERDICTS[getVerdict(list)];
  const resolution = row?.resolution ?? null;
  const soFar = verdict === 'verified' && row?.status === 'PENDING' ? ' so far' : '';
  const missing = row === null ? list.find(({ outcome }) => outcome === 'fail')?.because : undefined;
  const notDue = list.filter(({ outcome, isDue }) => outcome === 'unknown' && !isDue);
  // A late forecast is no failure, but its check does not hold.
  const made = tallyChecks(list).filter(({ check, passed, failed, unknown }) => passed + failed > 0 || (check === 'inTime' && unknown > 0));
  return {
    verdict,
    words: `${verdict.toUpperCase()}${soFar}: ${missing ?? formatForecastVerdict(list, row)}.`,
    where: { chainId: chain.chainId, attester, eas: chain.addresses.eas, endpoint, takenFromService },
    prediction: row && toPredictionJson(row),
    resolution: resolution && { uid: resolution.uid, attestedAt: formatInstant(resolution.at), ...resolution.data },
    checks: made.map(({ check, what, failed, passed }) => ({ check, what, ok: failed === 0 && passed > 0 })),
    differences: listDifferences(list),
    notes,
    incomplete: listGaps(list, []),
    unchecked: [...new Set(notDue.map(({ because }) => because))],
  };
}

function toPredictionJson({ prediction: { uid, at, data }, status, late, missed }: CheckedRow) {
  const [date, horizon] = [formatDay(data.day), `${data.horizonDays}d`];
  return {
    ...{ predictionId: `${date}:${horizon}`, uid, date, horizon, sequence: data.sequence, attestedAt: formatInstant(at) },
    ...{ windowOpensAt: formatInstant(data.windowOpensAt), resolvesAt: formatInstant(data.resolvesAt) },
    ...{ commitment: data.commitment, status, late, missed },
  };
}
