import { type Hex, sha256, stringToBytes } from 'viem';
import * as z from 'zod/mini';
import { getErrorMessage, OracleError } from '../../platform/errors.ts';
import { parseCommittedModels } from '../../verify/checks/committed-models.ts';
import { encodeCid } from '../../verify/encode-cid.ts';
import type { ClaimedChallenge, ServedDistributions, Unread } from '../../verify/evidence.ts';
import { waitForRateLimit } from './rate-limit.ts';

/** About 6 kB each. */
export const MAX_OPENINGS_PER_PAGE = 100;

const SHORT_TEXT = z.string().check(z.maxLength(200));
const MAX_METADATA_CHARS = 200_000;
const MAX_VERSIONS = 50;
/** A valid distribution has fewer quantiles. */
const MAX_QUANTILES = 1_000;

const VERSION = { name: SHORT_TEXT, modelVersion: SHORT_TEXT };
const listOf = <Schema extends z.ZodMiniObject>(entry: Schema) => z.array(entry).check(z.maxLength(MAX_VERSIONS));
const OPENED = z.object({
  ...{ predictionId: SHORT_TEXT, date: SHORT_TEXT, horizon: SHORT_TEXT, sequence: z.number() },
  ...{ attestationUid: SHORT_TEXT, resolutionUid: SHORT_TEXT, metadata: z.string().check(z.maxLength(MAX_METADATA_CHARS)) },
  openings: listOf(
    z.object({ ...VERSION, role: SHORT_TEXT, salt: SHORT_TEXT, quantilesMicro: z.array(z.number()).check(z.maxLength(MAX_QUANTILES)) }),
  ),
  missing: listOf(z.object({ name: SHORT_TEXT, role: SHORT_TEXT, reason: z.string().check(z.maxLength(MAX_METADATA_CHARS)) })),
  realised: z.nullable(z.number()),
  scores: listOf(
    z.object({
      ...{ ...VERSION, crps: z.number(), logScore: z.number(), pit: z.number() },
      ...{ in50: z.boolean(), in80: z.boolean(), in90: z.boolean() },
    }),
  ),
  comparisons: listOf(z.object({ challenger: SHORT_TEXT, against: SHORT_TEXT, limit: z.number(), difference: z.number() })),
});
const PAGE = z.object({ data: z.array(OPENED).check(z.maxLength(MAX_OPENINGS_PER_PAGE)), nextCursor: z.nullable(SHORT_TEXT) });

const COMPARISON = z.object({
  ...{ challenger: SHORT_TEXT, against: SHORT_TEXT, verdict: SHORT_TEXT, since: z.nullable(SHORT_TEXT) },
  ...{ days: z.number(), eBetter: z.number(), eWorse: z.number(), maxBetter: z.number(), maxWorse: z.number() },
});
const CHALLENGES = z.object({
  horizons: listOf(z.object({ horizon: SHORT_TEXT, comparisons: listOf(COMPARISON) })),
});

export interface DistributionPage {
  data: ServedDistributions[];
  nextCursor: string | null;
}

/** What a service serves of committed distributions. */
export type DistributionClaims = ReturnType<typeof createDistributionClaims>;

/** @param request gets JSON of a path below `source`, and rejects with an error whose `code` is NOT_FOUND or RATE_LIMITED for these */
export function createDistributionClaims(source: string, request: (path: string) => Promise<unknown>) {
  const fail = (why: string, cause?: unknown) =>
    new OracleError('SERVICE_UNREACHABLE', `The service at ${source} does not respond as expected: ${why}`, { cause });
  /** Undefined: there is no such resource. */
  const read = async (path: string): Promise<unknown> => {
    try {
      return await waitForRateLimit(() => request(path));
    } catch (error) {
      if (hasCode(error, 'NOT_FOUND')) return undefined;
      throw fail(getErrorMessage(error), error);
    }
  };
  return {
    source,
    /** Newest first; null: the service has no such operation. @param before a sequence number, exclusive @throws OracleError SERVICE_UNREACHABLE */
    async readPage(
      horizonDays: number,
      { limit, before }: { limit: number; before: number | string | null },
    ): Promise<DistributionPage | null> {
      const after = before === null ? '' : `&before=${encodeURIComponent(before)}`;
      const answer = await read(`api/svc/distributions?horizon=${horizonDays}&limit=${limit}${after}`);
      if (answer === undefined) return null;
      const { success, data, error } = PAGE.safeParse(answer);
      if (success) return data;
      const [{ path, message }] = error.issues;
      throw fail(`its distributions cannot be read: ${path.join('.')}: ${message.slice(0, 200)}`);
    },
    /** Null: an older service. @throws OracleError SERVICE_UNREACHABLE */
    async readChallenges(): Promise<ClaimedChallenge[] | Unread | null> {
      const answer = await read('api/svc/challenge');
      if (answer === undefined) return null;
      const { success, data } = CHALLENGES.safeParse(answer);
      if (!success) return { problem: 'the evidence that the service claims cannot be read' };
      return data.horizons.flatMap(({ horizon, comparisons }) =>
        comparisons.map((one) => ({ ...one, horizonDays: Number.parseInt(horizon, 10) })),
      );
    },
    /** Whether the metadata of this digest names committed distributions; null: it is not served. @throws OracleError SERVICE_UNREACHABLE */
    async namesDistributions(digest: Hex): Promise<boolean | null> {
      const metadata = await read(`ipfs/${encodeCid(digest)}`);
      if (metadata === undefined) return null;
      // Canonical JSON stays the same when it is parsed and written again.
      const text = JSON.stringify(metadata);
      return sha256(stringToBytes(text)) === digest.toLowerCase() ? parseCommittedModels(text) !== 'none' : null;
    },
  };
}

export function hasCode(error: unknown, code: 'NOT_FOUND' | 'RATE_LIMITED'): boolean {
  return (error as { code?: unknown } | null)?.code === code;
}
