import { createHash } from 'node:crypto';

/** Members that change with time alone. */
const VOLATILE_MEMBERS = new Set(['timestamp', 'ageSeconds', 'ageDays']);

export function buildWeakEtag(body: object): string {
  const stable = JSON.stringify(body, (name, value) => (VOLATILE_MEMBERS.has(name) ? undefined : value));
  return `W/"${digest(stable)}"`;
}

/** Strong entity tag: equal tags, equal bytes. */
export function buildStrongEtag(text: string): string {
  return `"${digest(text)}"`;
}

/** Whether `If-None-Match` lists this tag, by the weak comparison of RFC 9110, section 8.8.3.2. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => opaque(tag) === opaque(etag));
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
