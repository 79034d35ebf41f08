import type { Request } from 'express';
import { OracleError } from '../../../../platform/errors.ts';

/** Error for a request that a page of another origin has sent; null for one of this service's pages, or of no page. */
export function findCrossSiteError(request: Pick<Request, 'get' | 'host'>): OracleError | null {
  const site = request.get('Sec-Fetch-Site');
  const field = site === undefined ? 'Origin' : 'Sec-Fetch-Site';
  if (site === undefined ? isOwnOrigin(request) : site === 'none' || site === 'same-origin') return null;
  return new OracleError('UNAUTHENTICATED', 'Cross-site requests are rejected', { field });
}

function isOwnOrigin(request: Pick<Request, 'get' | 'host'>): boolean {
  const origin = request.get('Origin');
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === request.host);
}
