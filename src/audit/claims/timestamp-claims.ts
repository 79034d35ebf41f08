import * as z from 'zod/mini';
import { getErrorMessage, OracleError } from '../../platform/errors.ts';
import type { ServedTimestamp } from '../../verify/evidence.ts';
import { MAX_PROOF_BYTES } from '../../verify/timestamps/ots-file.ts';
import { hasCode } from './distribution-claims.ts';
import { waitForRateLimit } from './rate-limit.ts';

/** About 10 kB each. */
export const MAX_TIMESTAMPS_PER_PAGE = 100;

const MAX_DOCUMENT_CHARS = 20_000;
const MAX_PROOF_CHARS = Math.ceil(MAX_PROOF_BYTES / 3) * 4;
const DATE = z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/));

const STAMPED = z.object({
  date: DATE,
  document: z.string().check(z.maxLength(MAX_DOCUMENT_CHARS)),
  proof: z.nullable(z.base64().check(z.maxLength(MAX_PROOF_CHARS))),
});
const PAGE = z.object({ data: z.array(STAMPED).check(z.maxLength(MAX_TIMESTAMPS_PER_PAGE)), nextCursor: z.nullable(DATE) });

export interface TimestampPage {
  /** By date, newest first. */
  data: ReadonlyMap<string, ServedTimestamp>;
  nextCursor: string | null;
}

/** What a service serves of independent timestamps. */
export type TimestampClaims = ReturnType<typeof createTimestampClaims>;

/** @param request gets JSON of a path below `source`, and rejects with an error whose `code` is NOT_FOUND or RATE_LIMITED for these */
export function createTimestampClaims(source: string, request: (path: string) => Promise<unknown>) {
  const fail = (why: string, cause?: unknown) =>
    new OracleError('SERVICE_UNREACHABLE', `The timestamps of the service at ${source} cannot be read: ${why}`, { cause });
  return {
    /** An older service has none. @param before a date, exclusive @throws OracleError SERVICE_UNREACHABLE */
    async readPage({ limit, before }: { limit: number; before: string | null }): Promise<TimestampPage> {
      const path = `api/svc/timestamps?limit=${limit}${before === null ? '' : `&before=${before}`}`;
      const answer = await waitForRateLimit(() => request(path)).catch((error: unknown) => {
        if (hasCode(error, 'NOT_FOUND')) return { data: [], nextCursor: null };
        throw fail(getErrorMessage(error), error);
      });
      const { success, data: page, error } = PAGE.safeParse(answer);
      if (!success) throw fail(`${error.issues[0].path.join('.')}: ${error.issues[0].message.slice(0, 200)}`);
      const entries = page.data.map(({ date, document, proof }) => [date, { document, proof: decodeProof(proof) }] as const);
      return { data: new Map(entries), nextCursor: page.nextCursor };
    },
  };
}

function decodeProof(proof: string | null): Uint8Array | null {
  return proof === null ? null : Uint8Array.from(atob(proof), (character) => character.charCodeAt(0));
}
