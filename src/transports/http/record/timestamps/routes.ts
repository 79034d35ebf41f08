import { createHash } from 'node:crypto';
import { z } from 'zod';
import { formatDay, parseDay } from '../../../../forecast/day.ts';
import { OracleError } from '../../../../platform/errors.ts';
import { joinUrl } from '../../../../platform/service-url.ts';
import { toServedTimestamp } from '../../../../record/timestamps/day-timestamp.ts';
import type { TimestampDoc } from '../../../../record/timestamps/timestamp-doc.ts';
import type { HttpDeps } from '../../deps.ts';
import { dateInput, limitInput, PAGE_LIMITS } from '../../server/parsing/parameters.ts';
import { buildNextPageHeaders } from '../../server/replies/link-header.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import { STAMPED_DOCUMENT, TIMESTAMPS, type TimestampsReply } from './schemas.ts';

type TimestampRouteDeps = Pick<HttpDeps, 'publicUrl' | 'timestamps'>;

const PATH = '/api/svc/timestamps';
const PARAMS = z.object({ date: dateInput });
const QUERY = z.object({
  limit: limitInput(PAGE_LIMITS.timestamps.most, PAGE_LIMITS.timestamps.default),
  before: dateInput.optional().describe('Only days before this one: `nextCursor` of the previous page'),
});

/** The OpenTimestamps proofs of the commitments of days, which hold nothing that is not on chain. */
export function timestampRoutes(deps: TimestampRouteDeps): Route[] {
  return [
    route(`GET ${PATH}`, 'listTimestamps', {
      units: 0.2,
      tag: 'record',
      reply: TIMESTAMPS,
      summary: 'Independent timestamps of the commitments of each day, with their proofs',
      description:
        'The commitments of a day in one document, stamped by OpenTimestamps calendars into Bitcoin. It corroborates the block times of ' +
        'the attestations, and no verdict needs it. Entries are paged: send `nextCursor`, also in the header `Link` (RFC 8288), as `before`.',
      query: QUERY,
      handle: ({ query }) => listTimestamps(deps, query),
    }),
    route(`GET ${PATH}/{date}.json`, 'getTimestampDocument', {
      tag: 'record',
      reply: STAMPED_DOCUMENT,
      errors: ['NOT_FOUND'],
      summary: 'The exact bytes of the stamped document of a day: its attestation uids and commitments',
      params: PARAMS,
      handle: async ({ params: { date } }) => ({
        headers: { 'Content-Type': 'application/json' },
        raw: (await requireTimestamp(deps, date)).document,
      }),
    }),
    route(`GET ${PATH}/{date}.json.ots`, 'getTimestampProof', {
      tag: 'record',
      reply: null,
      alternatives: { 'application/vnd.opentimestamps.ots': { description: 'A detached OpenTimestamps file of the document.' } },
      errors: ['NOT_FOUND'],
      summary: 'The OpenTimestamps proof of the stamped document of a day, as its clients read it',
      params: PARAMS,
      handle: async ({ params: { date } }) => toProofReply(await requireTimestamp(deps, date)),
    }),
  ];
}

async function listTimestamps(
  { timestamps, publicUrl }: TimestampRouteDeps,
  query: z.output<typeof QUERY>,
): Promise<Reply<TimestampsReply>> {
  const { limit, before } = query;
  const found = await timestamps.list({ before: before === undefined ? null : parseDay(before), limit: limit + 1 });
  const data = found.slice(0, limit).map((doc) => toEntry(doc, publicUrl));
  const nextCursor = found.length > limit ? data.at(-1)!.date : null;
  const headers = buildNextPageHeaders(publicUrl, PATH, nextCursor === null ? null : { limit, before: nextCursor });
  return { headers, body: { success: true, data, count: data.length, nextCursor } };
}

function toEntry(doc: TimestampDoc, publicUrl: string): TimestampsReply['data'][number] {
  const { document, proof } = toServedTimestamp(doc);
  const documentUrl = joinUrl(publicUrl, `${PATH}/${doc._id}.json`);
  return {
    date: formatDay(doc.day),
    document,
    sha256: doc.digest,
    documentUrl,
    proofUrl: proof === null ? null : `${documentUrl}.ots`,
    proof: proof === null ? null : Buffer.from(proof).toString('base64'),
    createdAt: doc.createdAt.toISOString(),
    calendars: doc.calendars.map(({ url, status }) => ({ url, status })),
    blocks: doc.blocks,
  };
}

async function requireTimestamp({ timestamps }: TimestampRouteDeps, date: string): Promise<TimestampDoc> {
  const doc = await timestamps.find(parseDay(date));
  if (doc !== null) return doc;
  const suggestedAction = `GET ${PATH} lists the days that are stamped.`;
  throw new OracleError('NOT_FOUND', `The commitments of ${date} are not stamped`, { field: 'date', suggestedAction });
}

function toProofReply(doc: TimestampDoc): Reply<never> {
  const { proof } = toServedTimestamp(doc);
  if (proof === null) throw new OracleError('NOT_FOUND', `No calendar has accepted the commitments of ${doc._id} yet`, { field: 'date' });
  const headers = {
    'Content-Type': 'application/vnd.opentimestamps.ots',
    'Content-Disposition': `attachment; filename="${doc._id}.json.ots"`,
    ETag: `"${createHash('sha256').update(proof).digest('hex')}"`,
  };
  return { headers, streamed: { bytes: proof.length, encoding: null, read: () => readOnce(proof) } };
}

async function* readOnce(bytes: Uint8Array): AsyncGenerator<Buffer> {
  yield Buffer.from(bytes);
}
