import type { Hex } from 'viem';
import { getErrorMessage, OracleError, UsageError } from '../errors.ts';
import { formatDay, parseDay } from '../forecast/day.ts';
import { HORIZONS, type HorizonName } from '../forecast/model.ts';
import type { CheckedRow } from '../verify/checks/forecast.ts';
import { checkAttestation, toSubject } from '../verify/checks/prediction.ts';
import type { CheckContext, ForecastEvidence } from '../verify/evidence.ts';
import { createFindings, formatInstant, NO_SUBJECT } from '../verify/findings.ts';
import { formatForecastVerdict, getVerdict, listMadeChecks } from '../verify/summary.ts';
import { checkForecastEvidence } from '../verify/verify.ts';
import { listDifferences, listGaps } from './audit.ts';
import {
  type AuditChain,
  collectForecastEvidence,
  type ForecastQuery,
  type ForecastSearch,
  findForecast,
  findNewestPrediction,
  hasAttestedLately,
  SEARCH_DAYS,
} from './chain-record.ts';
import { type DistributionClaims, readServedDistributions } from './service-claims.ts';

export type ForecastVerification = Awaited<ReturnType<typeof verifyForecast>>;

const PREDICTION_ID = new RegExp(`^(\\d{4}-\\d{2}-\\d{2}):([${HORIZONS.join('')}])d$`);

/** @param id a uid, `2026-11-14:7d` or `latest` @param horizon of `latest` @throws UsageError */
export function parseForecastQuery(id: string, horizon: HorizonName): ForecastQuery {
  const newestOf = Number(horizon.slice(0, -1));
  if (id === 'latest') return { newestOf, what: `forecast over ${newestOf} days in its last days` };
  const what = `forecast ${id.toLowerCase()}`;
  if (/^0x[0-9a-fA-F]{64}$/.test(id)) return { uid: id.toLowerCase() as Hex, what };
  const [, date, days] = PREDICTION_ID.exec(id) ?? [];
  if (date === undefined) {
    throw new UsageError('id', 'must be a uid (0x and 64 hex characters), a prediction id such as 2026-11-14:7d, latest or all');
  }
  try {
    return { day: parseDay(date), horizonDays: Number(days), what };
  } catch {
    throw new UsageError('id', `${date} is not a day`);
  }
}

/**
 * Reads a forecast from the chain and checks everything that the chain shows about it. The row is null when no readable prediction of the
 * query is on chain. @param distributions of a service; null: none is asked. @throws OracleError CHAIN_UNREACHABLE, FEED_UNAVAILABLE, FEED_INVALID; NOT_FOUND for a day outside the record
 */
export async function verifyForecast(search: ForecastSearch, query: ForecastQuery, distributions: DistributionClaims | null) {
  const findings = createFindings();
  const found = await findForecast(search, query);
  if (found === null) {
    await requireWithinRecord(search, query);
    const because = `no readable ${query.what} of this attester is on chain`;
    findings.fail('found', NO_SUBJECT, { field: 'uid', expected: 'an attestation', actual: null, because });
    return { row: null, findings };
  }
  if (found.note !== undefined) findings.note(found.note);
  const evidence = await collectForecastEvidence(search, found.uid);
  const served = await findServedDistributions(evidence, search, distributions);
  const row = checkForecastEvidence({ ...evidence, ...served }, search, findings);
  const rest = 'the rest of the record was not read: svc verify all, or svc audit';
  if (row !== null) findings.leave('sequence', toSubject(row.prediction), rest, false);
  return { row, findings };
}

/** A day outside the record has no forecast that could be missing: the newest one and its sequence give the bounds. @throws OracleError NOT_FOUND */
async function requireWithinRecord(search: ForecastSearch, query: ForecastQuery): Promise<void> {
  if ('uid' in query) return;
  const horizonDays = 'day' in query ? query.horizonDays : query.newestOf;
  const newest = await findNewestPrediction(search, horizonDays);
  if (newest === null) {
    // What is there and cannot be read is no record that has not begun.
    if (await hasAttestedLately(search)) return;
    const detail = `No forecast over ${horizonDays} days of this attester was made or resolved on chain in the last ${SEARCH_DAYS} days`;
    throw new OracleError('NOT_FOUND', `${detail}: there is nothing to verify`, {
      field: 'id',
      suggestedAction: 'The record has not begun, or has ended: name a day of it, or repeat this after 21:38 UTC.',
    });
  }
  if (!('day' in query)) return;
  const [first, last] = [newest.data.day - newest.data.sequence + 1, newest.data.day];
  if (query.day >= first && query.day <= last) return;
  throw new OracleError(
    'NOT_FOUND',
    `${formatDay(query.day)} is outside the record: its forecasts over ${horizonDays} days run from ${formatDay(first)} to ${formatDay(last)}`,
    { field: 'id', suggestedAction: 'Name a day in between.' },
  );
}

/** Of a resolved forecast; a service that does not answer says nothing about it. */
async function findServedDistributions(
  { prediction, resolutions }: ForecastEvidence,
  context: CheckContext,
  distributions: DistributionClaims | null,
): Promise<Pick<ForecastEvidence, 'distributions'>> {
  if (resolutions.length === 0 || !('uid' in prediction)) return {};
  const made = checkAttestation(prediction, context, createFindings());
  if (made === null) return {};
  const read = readServedDistributions(distributions, made);
  return { distributions: await read.catch((error: unknown) => ({ problem: getErrorMessage(error) })) };
}

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
  const checks = listMadeChecks(list);
  const notDue = list.filter(({ outcome, isDue }) => outcome === 'unknown' && !isDue);
  return {
    verdict,
    words: `${verdict.toUpperCase()}${soFar}: ${missing ?? formatForecastVerdict(list, row, checks)}.`,
    where: { chainId: chain.chainId, attester, eas: chain.addresses.eas, endpoint, takenFromService },
    prediction: row && toPredictionJson(row),
    resolution: resolution && { uid: resolution.uid, attestedAt: formatInstant(resolution.at), ...resolution.data },
    checks,
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
