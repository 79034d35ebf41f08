import { HORIZONS } from '../../forecast/model.ts';
import { OracleError } from '../../platform/errors.ts';
import { createDistributionRecordCheck, type DistributionRecordCheck, isDue } from '../../verify/check-distribution-record.ts';
import type { ProvenChallenge } from '../../verify/checks/challenge.ts';
import type { CheckedRow } from '../../verify/checks/forecast.ts';
import { isUnread, type Prediction, type ServedDistributions, type Unread } from '../../verify/evidence.ts';
import { type Findings, NO_SUBJECT } from '../../verify/findings.ts';
import { type DistributionClaims, MAX_OPENINGS_PER_PAGE } from './distribution-claims.ts';

/** Forecasts may be resolved while the record is read. */
const MIN_OPENINGS_PER_PAGE = 10;

interface DistributionAudit {
  /** Null: no service is compared. */
  distributions: DistributionClaims | null;
  now: Date;
  findings: Findings;
  signal?: AbortSignal | undefined;
  onProgress(stage: string, done: number, total: number): void;
}

const NO_SERVICE = 'no service was named that opens the distributions';
const OLDER_SERVICE = 'the service has no operation that opens distributions, and its metadata names none: it is of an older version';
const UNKNOWN_SERVICE =
  'the service has no operation that opens distributions, and does not serve the metadata that says whether there are any';

/**
 * Reads the distributions of a record page by page, checks them, and recomputes the evidence for or against challengers.
 * @throws OracleError SERVICE_UNREACHABLE; the reason of `signal`
 */
export async function checkServedDistributions(rows: readonly CheckedRow[], audit: DistributionAudit): Promise<ProvenChallenge[]> {
  const { distributions, findings } = audit;
  const check = createDistributionRecordCheck(rows, audit);
  const [newest] = check.getDue();
  if (newest === undefined) return [];
  if (distributions === null) {
    findings.leave('distributions', NO_SUBJECT, NO_SERVICE, false);
    return [];
  }
  if (!(await readAll(distributions, check, { ...audit, due: rows.filter(isDue) }))) {
    const missing = await explainMissing(distributions, newest.prediction);
    if (missing === 'older') findings.note(OLDER_SERVICE);
    else if (missing === 'unknown') findings.leave('distributions', NO_SUBJECT, UNKNOWN_SERVICE);
    if (missing !== 'withheld') return [];
  }
  const challenges = await distributions.readChallenges();
  if (isUnread(challenges)) findings.leave('evidence', NO_SUBJECT, challenges.problem);
  return check.finish(isUnread(challenges) ? null : challenges);
}

type Reading = Pick<DistributionAudit, 'signal' | 'onProgress'> & { due: readonly CheckedRow[] };

/** @returns false when the service has no such operation */
async function readAll(claims: DistributionClaims, check: DistributionRecordCheck, { signal, onProgress, due }: Reading): Promise<boolean> {
  let done = 0;
  for (const horizonDays of HORIZONS) {
    let before: string | null = null;
    let left = due.filter(({ prediction }) => prediction.data.horizonDays === horizonDays).length;
    do {
      signal?.throwIfAborted();
      // Services price a page by the entries that it may have.
      const limit = Math.min(MAX_OPENINGS_PER_PAGE, Math.max(MIN_OPENINGS_PER_PAGE, left));
      const page = await claims.readPage(horizonDays, { limit, before });
      if (page === null) return false;
      for (const served of page.data) check.check(served);
      done += page.data.length;
      left -= page.data.length;
      onProgress('checking distributions', done, due.length);
      if (page.nextCursor !== null && !isEarlier(page.nextCursor, before)) {
        throw new OracleError('SERVICE_UNREACHABLE', 'The list of distributions of the service does not end');
      }
      before = page.nextCursor;
    } while (before !== null);
  }
  return true;
}

/** Pages are bounded by falling sequence numbers. */
function isEarlier(cursor: string, before: string | null): boolean {
  return Number(cursor) < Number(before ?? Number.POSITIVE_INFINITY);
}

/** A service without the operation withholds what its metadata names. */
async function explainMissing(claims: DistributionClaims, { data }: Prediction): Promise<'older' | 'withheld' | 'unknown'> {
  const isNamed = await claims.namesDistributions(data.metadata);
  return isNamed === null ? 'unknown' : isNamed ? 'withheld' : 'older';
}

/** What a service serves of the distributions of one resolved forecast; null when they are withheld. */
export async function readServedDistributions(
  claims: DistributionClaims | null,
  prediction: Prediction,
): Promise<ServedDistributions | Unread | null> {
  if (claims === null) return { problem: NO_SERVICE };
  const { horizonDays, sequence } = prediction.data;
  const page = await claims.readPage(horizonDays, { limit: 1, before: sequence + 1 });
  if (page === null) {
    const missing = await explainMissing(claims, prediction);
    return missing === 'withheld' ? null : { problem: missing === 'older' ? OLDER_SERVICE : UNKNOWN_SERVICE };
  }
  return page.data.find((served) => served.attestationUid.toLowerCase() === prediction.uid.toLowerCase()) ?? null;
}
