import { type Hex, sha256, stringToBytes } from 'viem';
import * as z from 'zod/mini';
import { getErrorMessage, OracleError } from '../errors.ts';
import { HORIZONS } from '../forecast/model.ts';
import type { CheckedRow } from '../verify/checks/forecast.ts';
import type { ProvenChallenge } from '../verify/checks/record.ts';
import {
  type ClaimedChallenge,
  type ClaimedRow,
  type ClaimedScorecard,
  encodeCid,
  type ForecastEvidence,
  isUnread,
  type Prediction,
  parseCommittedModels,
  type ServedDistributions,
  type Unread,
} from '../verify/evidence.ts';
import { NO_SUBJECT } from '../verify/findings.ts';
import { createDistributionRecordCheck, type DistributionContext, type DistributionRecordCheck, isDue } from '../verify/verify.ts';

const ROWS_PER_PAGE = 1_000;
/** Bound on the entries of one scorecard. */
const MAX_ROWS = 100_000;

type Page = { predictions: readonly unknown[]; nextCursor?: string | null | undefined };

/** Reads all pages of a scorecard, the newest first. @throws OracleError SERVICE_UNREACHABLE when they do not end, and the errors of `read` */
export async function readPages<P extends Page>(horizonDays: number, read: (query: string) => Promise<P>): Promise<P[]> {
  const pages: P[] = [];
  for (let rows = 0, before = ''; ; ) {
    const page = await read(`horizon=${horizonDays}&limit=${ROWS_PER_PAGE}${before}`);
    const { predictions, nextCursor } = page;
    pages.push(page);
    rows += predictions.length;
    if (nextCursor == null) return pages;
    if (predictions.length === 0 || rows > MAX_ROWS)
      throw new OracleError('SERVICE_UNREACHABLE', 'The scorecard of the service does not end');
    before = `&before=${encodeURIComponent(nextCursor)}`;
  }
}

const SHORT_TEXT = z.string().check(z.maxLength(100));
const TEXT_OR_NULL = z.nullable(SHORT_TEXT);
const NUMBER_OR_NULL = z.nullable(z.number());

/** The compared fields of a scorecard row. */
const CLAIMED_ROW = z.object({
  ...{ date: SHORT_TEXT, sequence: z.number(), status: SHORT_TEXT, windowOpensAt: SHORT_TEXT, resolvesAt: SHORT_TEXT },
  ...{ signal: TEXT_OR_NULL, direction: TEXT_OR_NULL, confidence: NUMBER_OR_NULL, pUp: NUMBER_OR_NULL, btcPrice: NUMBER_OR_NULL },
  ...{ btcAtSignal: NUMBER_OR_NULL, provisional: z.optional(z.boolean()), btcAtResolution: NUMBER_OR_NULL, returnBps: NUMBER_OR_NULL },
  outcome: z.nullable(z.object({ actualReturn: z.number(), actualDirection: SHORT_TEXT, correct: z.boolean() })),
  ...{ resolved: z.boolean(), resolvedAt: TEXT_OR_NULL, missed: z.boolean(), replayed: z.optional(z.boolean()) },
  ...{ attestationUid: TEXT_OR_NULL, resolutionUid: TEXT_OR_NULL },
  ...{ moveSize: z.optional(TEXT_OR_NULL), pBig: z.optional(NUMBER_OR_NULL) },
});

const FIGURES = z.record(z.string(), z.unknown());

/** The compared parts of a scorecard. Unknown names are kept, so that they can be reported. */
const CLAIMED_SCORECARD = z.looseObject({
  ...{ horizon: z.optional(SHORT_TEXT), summary: FIGURES, stats: z.optional(FIGURES), statistics: z.optional(FIGURES) },
  byHorizon: z.optional(z.array(z.looseObject({ horizon: SHORT_TEXT }))),
  predictions: z.array(CLAIMED_ROW).check(z.maxLength(MAX_ROWS)),
  /** Absent in a response with all entries. */
  nextCursor: z.optional(z.nullable(SHORT_TEXT)),
});

/** The public claims of a service. */
export interface ServiceClaims {
  source: string;
  /** @throws OracleError SERVICE_UNREACHABLE */
  scorecard(horizonDays: number): Promise<ClaimedScorecard>;
  /** Absent: distributions are not compared. */
  forecasts?: ForecastClaims;
}

/** Reads the scorecards of a service with all their pages. @param source base URL @param request gets JSON of a path below it */
export function createServiceClaims(source: string, request: (path: string) => Promise<unknown>): Required<ServiceClaims> {
  const fail = (why: string, cause?: unknown) => {
    const suggestedAction = 'Start it with npm start, or set its URL with --service; use --rpc without --service to audit the chain alone.';
    const message = `The service at ${source} does not respond as expected: ${why}`;
    return new OracleError('SERVICE_UNREACHABLE', message, { suggestedAction, cause });
  };
  const read = async (query: string) => {
    const answer = await waitForRateLimit(() => request(`api/svc/scorecard?${query}`)).catch((cause: unknown) => {
      throw fail(getErrorMessage(cause), cause);
    });
    const { data, error } = CLAIMED_SCORECARD.safeParse(answer);
    if (error) throw fail(`its scorecard cannot be read: ${formatFirstIssue(error)}`);
    return data;
  };
  return {
    source,
    forecasts: createForecastClaims(source, request),
    async scorecard(horizonDays: number): Promise<ClaimedScorecard> {
      const pages = await readPages(horizonDays, read);
      const { nextCursor: _, count: __, ...newest } = pages[0];
      const rows = pages.flatMap(({ predictions }) => predictions);
      return { ...newest, predictions: rows.map(toClaimedRow) };
    },
  };
}

/** A provisional price is not the close of the outcome window. */
function toClaimedRow({ provisional, ...row }: z.infer<typeof CLAIMED_ROW>): ClaimedRow {
  return provisional ? { ...row, btcAtSignal: null } : row;
}

/** About 6 kB each. */
export const MAX_OPENINGS_PER_PAGE = 100;

const CLAIM_TEXT = z.string().check(z.maxLength(200));
const MAX_METADATA_CHARS = 200_000;
const MAX_VERSIONS = 50;
/** A valid distribution has fewer quantiles. */
const MAX_QUANTILES = 1_000;

const VERSION = { name: CLAIM_TEXT, modelVersion: CLAIM_TEXT };
const listOf = <Schema extends z.ZodMiniObject>(entry: Schema) => z.array(entry).check(z.maxLength(MAX_VERSIONS));
const OPENED = z.object({
  ...{ predictionId: CLAIM_TEXT, date: CLAIM_TEXT, horizon: CLAIM_TEXT, sequence: z.number() },
  ...{ attestationUid: CLAIM_TEXT, resolutionUid: CLAIM_TEXT, metadata: z.string().check(z.maxLength(MAX_METADATA_CHARS)) },
  openings: listOf(
    z.object({ ...VERSION, role: CLAIM_TEXT, salt: CLAIM_TEXT, quantilesMicro: z.array(z.number()).check(z.maxLength(MAX_QUANTILES)) }),
  ),
  missing: listOf(z.object({ name: CLAIM_TEXT, role: CLAIM_TEXT, reason: z.string().check(z.maxLength(MAX_METADATA_CHARS)) })),
  realised: z.nullable(z.number()),
  scores: listOf(
    z.object({
      ...{ ...VERSION, crps: z.number(), logScore: z.number(), pit: z.number() },
      ...{ in50: z.boolean(), in80: z.boolean(), in90: z.boolean() },
    }),
  ),
  move: z.optional(
    z.nullable(
      z.object({
        ...{ moveSize: CLAIM_TEXT, pBig: z.number(), big: z.boolean() },
        references: z.record(CLAIM_TEXT, NUMBER_OR_NULL),
      }),
    ),
  ),
  comparisons: listOf(z.object({ challenger: CLAIM_TEXT, against: CLAIM_TEXT, limit: z.number(), difference: z.number() })),
});
const PAGE = z.object({ data: z.array(OPENED).check(z.maxLength(MAX_OPENINGS_PER_PAGE)), nextCursor: z.nullable(CLAIM_TEXT) });

const COMPARISON = z.object({
  ...{ challenger: CLAIM_TEXT, against: CLAIM_TEXT, verdict: CLAIM_TEXT, since: z.nullable(CLAIM_TEXT) },
  ...{ days: z.number(), eBetter: z.number(), eWorse: z.number(), maxBetter: z.number(), maxWorse: z.number() },
});
const CHALLENGES = z.object({
  horizons: listOf(z.object({ horizon: CLAIM_TEXT, comparisons: listOf(COMPARISON) })),
});

/** What a service serves of single forecasts. */
export type ForecastClaims = ReturnType<typeof createForecastClaims>;

/** @param request gets JSON of a path below `source`, and rejects with an error whose `code` is NOT_FOUND or RATE_LIMITED for these */
export function createForecastClaims(source: string, request: (path: string) => Promise<unknown>) {
  const fail = (why: string, cause?: unknown) =>
    new OracleError('SERVICE_UNREACHABLE', `The service at ${source} does not respond as expected: ${why}`, { cause });
  /** Undefined: there is no such resource. */
  const read = async (path: string): Promise<unknown> => {
    try {
      return await waitForRateLimit(() => request(path));
    } catch (error) {
      if ((error as { code?: unknown } | null)?.code === 'NOT_FOUND') return undefined;
      throw fail(getErrorMessage(error), error);
    }
  };
  return {
    source,
    /** Newest first; null: the service has no such operation. @param before a sequence number, exclusive @throws OracleError SERVICE_UNREACHABLE */
    async readPage(horizonDays: number, { limit, before }: { limit: number; before: number | string | null }) {
      const after = before === null ? '' : `&before=${encodeURIComponent(before)}`;
      const answer = await read(`api/svc/distributions?horizon=${horizonDays}&limit=${limit}${after}`);
      if (answer === undefined) return null;
      const { data, error } = PAGE.safeParse(answer);
      if (error) throw fail(`its distributions cannot be read: ${formatFirstIssue(error)}`);
      return data;
    },
    /** Null: an older service. @throws OracleError SERVICE_UNREACHABLE */
    async readChallenges(): Promise<ClaimedChallenge[] | Unread | null> {
      const answer = await read('api/svc/challenge');
      if (answer === undefined) return null;
      const { data } = CHALLENGES.safeParse(answer);
      if (data === undefined) return { problem: 'the evidence that the service claims cannot be read' };
      return data.horizons.flatMap(({ horizon, comparisons }) =>
        comparisons.map((one) => ({ ...one, horizonDays: Number.parseInt(horizon, 10) })),
      );
    },
    /** The row of a forecast; null: the scorecard has none. @throws OracleError SERVICE_UNREACHABLE */
    async readRow({ horizonDays, sequence }: Pick<Prediction['data'], 'horizonDays' | 'sequence'>): Promise<ClaimedRow | null> {
      const answer = await read(`api/svc/scorecard?horizon=${horizonDays}&limit=1&before=${sequence + 1}`);
      if (answer === undefined) throw fail('it has no scorecard');
      const { data, error } = CLAIMED_SCORECARD.safeParse(answer);
      if (error) throw fail(`its scorecard cannot be read: ${formatFirstIssue(error)}`);
      const row = data.predictions.find((one) => one.sequence === sequence);
      return row === undefined ? null : toClaimedRow(row);
    },
    /** The metadata served under a digest, as canonical JSON; null: it is not served. @throws OracleError SERVICE_UNREACHABLE */
    async readMetadata(digest: Hex): Promise<string | null> {
      const metadata = await read(`ipfs/${encodeCid(digest)}`);
      // Canonical JSON stays the same when it is parsed and written again.
      return metadata === undefined ? null : JSON.stringify(metadata);
    },
  };
}

function formatFirstIssue({ issues: [{ path, message }] }: z.core.$ZodError): string {
  return `${path.join('.')}: ${message.slice(0, 200)}`;
}

const MAX_WAITS = 30;
const DEFAULT_WAIT_SECONDS = 5;
const MAX_WAIT_SECONDS = 60;

/** Repeats a request that is rejected by a rate limit when it may succeed again: a long record has more pages than requests a minute. */
async function waitForRateLimit<Answer>(request: () => Promise<Answer>): Promise<Answer> {
  for (let waits = 0; ; waits++) {
    try {
      return await request();
    } catch (error) {
      const { code, retryAfterSeconds = DEFAULT_WAIT_SECONDS } = error as { code?: unknown; retryAfterSeconds?: number };
      if (code !== 'RATE_LIMITED' || waits === MAX_WAITS) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1_000 * Math.min(MAX_WAIT_SECONDS, retryAfterSeconds)));
    }
  }
}

/** Forecasts may be resolved while the record is read. */
const MIN_OPENINGS_PER_PAGE = 10;

interface DistributionAudit extends DistributionContext {
  /** Null: no service is compared. */
  distributions: ForecastClaims | null;
  signal?: AbortSignal | undefined;
  onProgress(stage: string, done: number, total: number): void;
}

const NO_METADATA = 'no service was named that serves the metadata';
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
  if (distributions !== null) await checkPendingMoves(rows, distributions, check, audit);
  const [newest] = check.getDue();
  if (newest === undefined) {
    if (distributions !== null) check.checkMoveSkills();
    return [];
  }
  if (distributions === null) {
    findings.leave('distributions', NO_SUBJECT, NO_SERVICE, false);
    return [];
  }
  if (!(await readAll(distributions, check, audit, rows.filter(isDue)))) {
    const missing = await explainMissing(distributions, newest.prediction);
    if (missing === 'older') findings.note(OLDER_SERVICE);
    else if (missing === 'unknown') findings.leave('distributions', NO_SUBJECT, UNKNOWN_SERVICE);
    if (missing !== 'unknown') check.checkMoveSkills();
    if (missing !== 'withheld') return [];
  } else check.checkMoveSkills();
  const challenges = await distributions.readChallenges();
  if (isUnread(challenges)) findings.leave('evidence', NO_SUBJECT, challenges.problem);
  return check.finish(isUnread(challenges) ? null : challenges);
}

/** Days whose outcome is not due yet are at most eight. */
const MAX_PENDING_DAYS = 30;

/** Of forecasts whose distributions are not opened yet. */
async function checkPendingMoves(
  rows: readonly CheckedRow[],
  claims: ForecastClaims,
  check: DistributionRecordCheck,
  { shown, signal }: DistributionAudit,
): Promise<void> {
  const pending = rows.filter(({ status, prediction }) => status === 'PENDING' && shown.has(prediction.uid.toLowerCase()));
  const byDay = [...Map.groupBy(pending, ({ prediction }) => prediction.data.metadata)].slice(-MAX_PENDING_DAYS);
  for (const [digest, members] of byDay) {
    signal?.throwIfAborted();
    const metadata = await claims.readMetadata(digest);
    for (const row of members) check.checkPending(row, metadata);
  }
}

/** @returns false when the service has no such operation */
async function readAll(
  claims: ForecastClaims,
  check: DistributionRecordCheck,
  { signal, onProgress }: DistributionAudit,
  due: readonly CheckedRow[],
): Promise<boolean> {
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
      // Pages are bounded by falling sequence numbers.
      if (page.nextCursor !== null && !(Number(page.nextCursor) < Number(before ?? Number.POSITIVE_INFINITY))) {
        throw new OracleError('SERVICE_UNREACHABLE', 'The list of distributions of the service does not end');
      }
      before = page.nextCursor;
    } while (before !== null);
  }
  return true;
}

/** A service without the operation withholds what its metadata names. */
async function explainMissing(claims: ForecastClaims, { data }: Prediction): Promise<'older' | 'withheld' | 'unknown'> {
  const metadata = await claims.readMetadata(data.metadata);
  if (metadata === null || sha256(stringToBytes(metadata)) !== data.metadata.toLowerCase()) return 'unknown';
  return parseCommittedModels(metadata) === 'none' ? 'older' : 'withheld';
}

/**
 * What a service says of one forecast: its row, its metadata, and once it is resolved its distributions. What it does not answer says nothing
 * about the forecast.
 */
export async function readForecastClaims(
  claims: ForecastClaims | null,
  prediction: Prediction,
  isResolved: boolean,
): Promise<Pick<ForecastEvidence, 'shown' | 'metadata' | 'distributions'>> {
  if (claims === null) return { metadata: { problem: NO_METADATA }, ...(isResolved && { distributions: { problem: NO_SERVICE } }) };
  const { data } = prediction;
  const orProblem = <T>(reading: Promise<T>) => reading.catch((error: unknown): Unread => ({ problem: getErrorMessage(error) }));
  const readBytes = async () => {
    const metadata = await claims.readMetadata(data.metadata);
    return metadata === null ? { problem: 'the service does not serve it' } : stringToBytes(metadata);
  };
  const [shown, metadata, distributions] = await Promise.all([
    orProblem(claims.readRow(data)),
    orProblem(readBytes()),
    isResolved ? orProblem(readServedDistributions(claims, prediction)) : undefined,
  ]);
  return { shown, metadata, ...(distributions !== undefined && { distributions }) };
}

/** What a service serves of the distributions of one resolved forecast; null when they are withheld. */
async function readServedDistributions(claims: ForecastClaims, prediction: Prediction): Promise<ServedDistributions | Unread | null> {
  const { horizonDays, sequence } = prediction.data;
  const page = await claims.readPage(horizonDays, { limit: 1, before: sequence + 1 });
  if (page === null) {
    const missing = await explainMissing(claims, prediction);
    return missing === 'withheld' ? null : { problem: missing === 'older' ? OLDER_SERVICE : UNKNOWN_SERVICE };
  }
  return page.data.find((served) => served.attestationUid.toLowerCase() === prediction.uid.toLowerCase()) ?? null;
}
