import * as z from 'zod/mini';
import { HORIZONS } from '../../forecast/model.ts';
import { getErrorMessage, OracleError } from '../../platform/errors.ts';
import type { ClaimedScorecard } from '../../verify/evidence.ts';
import { createDistributionClaims, type DistributionClaims } from './distribution-claims.ts';
import { waitForRateLimit } from './rate-limit.ts';
import { MAX_ROWS, readPages } from './read-pages.ts';
import { createTimestampClaims, type TimestampClaims } from './timestamp-claims.ts';

const SHORT_TEXT = z.string().check(z.maxLength(100));
const TEXT_OR_NULL = z.nullable(SHORT_TEXT);
const NUMBER_OR_NULL = z.nullable(z.number());

/** The compared fields of a scorecard row. A provisional price is not the close of the outcome window and is not compared. */
const CLAIMED_ROW = z.object({
  ...{ date: SHORT_TEXT, sequence: z.number(), status: SHORT_TEXT, windowOpensAt: SHORT_TEXT, resolvesAt: SHORT_TEXT },
  ...{ signal: TEXT_OR_NULL, direction: TEXT_OR_NULL, confidence: NUMBER_OR_NULL, pUp: NUMBER_OR_NULL, btcPrice: NUMBER_OR_NULL },
  ...{ btcAtSignal: NUMBER_OR_NULL, provisional: z.optional(z.boolean()), btcAtResolution: NUMBER_OR_NULL, returnBps: NUMBER_OR_NULL },
  outcome: z.nullable(z.object({ actualReturn: z.number(), actualDirection: SHORT_TEXT, correct: z.boolean() })),
  ...{ resolved: z.boolean(), resolvedAt: TEXT_OR_NULL, missed: z.boolean(), replayed: z.optional(z.boolean()) },
  ...{ attestationUid: TEXT_OR_NULL, resolutionUid: TEXT_OR_NULL },
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
  distributions?: DistributionClaims;
  /** Absent: timestamps are not checked. */
  timestamps?: TimestampClaims;
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
    const { success, data, error } = CLAIMED_SCORECARD.safeParse(answer);
    if (success) return data;
    const [{ path, message }] = error.issues;
    throw fail(`its scorecard cannot be read: ${path.join('.')}: ${message.slice(0, 200)}`);
  };
  return {
    source,
    distributions: createDistributionClaims(source, request),
    timestamps: createTimestampClaims(source, request),
    async scorecard(horizonDays: number): Promise<ClaimedScorecard> {
      const pages = await readPages(horizonDays, read);
      const { nextCursor: _, count: __, ...newest } = pages[0];
      const rows = pages.flatMap(({ predictions }) => predictions);
      return { ...newest, predictions: rows.map(({ provisional, ...row }) => (provisional ? { ...row, btcAtSignal: null } : row)) };
    },
  };
}

/** Sufficient, because a service attests a few times a day. */
const MAX_READINGS = 4;

/**
 * Reads the chain (`read`), and the claims of a running service, which may attest meanwhile: the chain is read again, and with new attestations so
 * are the claims. `answers` are one scorecard per horizon in the order of `HORIZONS`.
 * @throws OracleError SERVICE_UNREACHABLE, and the errors of `read`
 */
export async function readClaims<Reading extends { evidence: readonly unknown[] }>(claims: ServiceClaims, read: () => Promise<Reading>) {
  let before = await read();
  for (let left = MAX_READINGS; ; left--) {
    // In parallel: each scorecard has figures of the others, which may change meanwhile.
    const answers = await Promise.all(HORIZONS.map((horizonDays) => claims.scorecard(horizonDays)));
    const after = await read();
    if (left === 1 || after.evidence.length === before.evidence.length) return { ...after, answers };
    before = after;
  }
}
