import type { Request } from 'express';
import { matchesEtag } from './etag.ts';

/**
 * Whether a caller has the answer already (RFC 9110, section 13.2.2): by its tag, or where it sends none by the time of the last change.
 * @param headers of the answer
 */
export function isNotModified(request: Pick<Request, 'get'>, headers: Readonly<Record<string, string>>): boolean {
  const ifNoneMatch = request.get('If-None-Match');
  // The framework heeds the tag only without `Cache-Control: no-cache`, which the fetch of browsers and Node adds of its own.
  if (ifNoneMatch !== undefined) return headers.ETag !== undefined && matchesEtag(ifNoneMatch, headers.ETag);
  const [modified, since] = [headers['Last-Modified'], request.get('If-Modified-Since')];
  return modified !== undefined && since !== undefined && Date.parse(modified) <= Date.parse(since);
}
