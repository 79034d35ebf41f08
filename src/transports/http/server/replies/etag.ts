import { createHash } from 'node:crypto';

/** Members that move on while nothing has changed. */
const VOLATILE_MEMBERS = new Set(['timestamp', 'ageSeconds', 'ageDays']);

/** A weak entity tag of a JSON body: the same for as long as it says the same, whenever it is asked. */
export function buildWeakEtag(body: object): string {
  const lasting = JSON.stringify(body, (name, value) => (VOLATILE_MEMBERS.has(name) ? undefined : value));
  return `W/"${createHash('sha256').update(lasting).digest('base64url')}"`;
}

/** A strong entity tag of a text: the same bytes, the same tag. */
export function buildStrongEtag(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url')}"`;
}

/** Whether an `If-None-Match` header names this tag, by the weak comparison of RFC 9110, section 8.8.3.2. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => opaque(tag) === opaque(etag));
}
