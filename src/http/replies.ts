import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { joinUrl } from '../platform/service-client.ts';
import { EncodedText, type Reply } from './route.ts';

export const CANONICAL_RULE = '`Link` names the canonical address (RFC 6596).';

/** Of a reply at another path than its own. */
export function buildCanonicalLink(publicUrl: string, path: string): { Link: string } {
  return { Link: `<${joinUrl(publicUrl, path)}>; rel="canonical"` };
}

/** `Link` header with `rel="next"` (RFC 8288). @param next query of the next page; null on the last page */
export function buildNextPageHeaders(
  publicUrl: string,
  path: string,
  next: Record<string, string | number> | null,
): Record<string, string> {
  if (next === null) return {};
  const query = new URLSearchParams(Object.entries(next).map(([name, value]): [string, string] => [name, String(value)]));
  return { Link: `<${publicUrl.replace(/\/$/, '')}${path}?${query}>; rel="next"` };
}

/** A cacheable reply that is constant within a process: rendered, tagged and compressed on the first request. A failed build is retried. */
export function createStaticReply(
  buildText: () => string,
  buildHeaders: () => Record<string, string>,
  buildEtag: (text: string) => string = buildStrongEtag,
): () => Reply<never> {
  let reply: Reply<never> | undefined;
  return () => {
    if (reply === undefined) {
      const text = buildText();
      reply = { headers: { ...buildHeaders(), ETag: buildEtag(text) }, encoded: new EncodedText(text) };
    }
    return reply;
  };
}

/** A binary file, read on the first request. */
export function createFileReply(file: URL, headers: Record<string, string>): () => Reply<never> {
  let reply: Reply<never> | undefined;
  return () => {
    if (reply === undefined) {
      const bytes = readFileSync(file);
      async function* read() {
        yield bytes;
      }
      reply = { headers: { ...headers, ETag: buildStrongEtag(bytes) }, streamed: { bytes: bytes.length, encoding: null, read } };
    }
    return reply;
  };
}

/** Members that change with time alone. */
const VOLATILE_MEMBERS = new Set(['timestamp', 'asOf', 'ageSeconds', 'ageDays']);

export function buildWeakEtag(body: object): string {
  const stable = JSON.stringify(body, (name, value) => (VOLATILE_MEMBERS.has(name) ? undefined : value));
  return `W/"${digest(stable)}"`;
}

/** Strong entity tag: equal tags, equal bytes. */
export function buildStrongEtag(text: string | Buffer): string {
  return `"${digest(text)}"`;
}

/** Whether `If-None-Match` lists this tag, by the weak comparison of RFC 9110, section 8.8.3.2. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => opaque(tag) === opaque(etag));
}

function digest(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** A JSON reply with the weak entity tag of its body. */
export function toTaggedReply<B extends object>(body: B, headers: Record<string, string> = {}) {
  return { headers: { ...headers, ETag: buildWeakEtag(body) }, body };
}

/**
 * The offered media type of the highest quality in an `Accept` header (RFC 9110, section 12.5.1); the first offer wins a tie, and where
 * none is acceptable. Express `accepts` decides ties by the header, and rejects `text/markdown; charset=utf-8`, which clients send.
 */
export function negotiateMediaType<Type extends string>(accept: string, offered: readonly [Type, ...Type[]]): Type {
  const qualities = new Map<string, number>();
  for (const item of accept.split(',')) {
    const [range, ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    const text = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    // 1 where the parameter is absent or malformed.
    const quality = text !== undefined && /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(text) ? Number(text) : 1;
    if (!qualities.has(range)) qualities.set(range, quality);
  }
  // Of the most specific range that matches; 0 without a match.
  const getQuality = (type: string) => qualities.get(type) ?? qualities.get(`${type.split('/')[0]}/*`) ?? qualities.get('*/*') ?? 0;
  const rated = offered.map((type) => ({ type, quality: getQuality(type) }));
  return rated.reduce((best, candidate) => (candidate.quality > best.quality ? candidate : best)).type;
}
