import { buildWeakEtag } from './etag.ts';

/** A JSON reply with the weak entity tag of its body. */
export function toTaggedReply<B extends object>(body: B, headers: Record<string, string> = {}) {
  return { headers: { ...headers, ETag: buildWeakEtag(body) }, body };
}
