import { getErrorMessage } from '../../platform/errors.ts';
import { readJson } from '../../platform/outbound/bounded-json.ts';
import { createOperatorFetch } from '../../platform/outbound/operator-fetch.ts';
import { createServiceClaims, createServiceError, type ServiceClaims } from '../claims/service-claims.ts';

const REQUEST_TIMEOUT_MS = 30_000;
const MAX_BYTES = 16 * 2 ** 20;

/** Reads the scorecards of a running service from Node. @param url may have a path @param pageRows entries per page, 1 to 1,000 */
export function claimsOf(url: string, pageRows?: number): ServiceClaims {
  const base = url.replace(/\/+$/, '');
  return createServiceClaims(base, (path) => fetchJson(`${base}/${path}`), pageRows);
}

async function fetchJson(url: string): Promise<unknown> {
  const { origin, pathname } = new URL(url);
  let status: number;
  try {
    const fetchService = createOperatorFetch({ base: url, timeoutMs: REQUEST_TIMEOUT_MS, maxBytes: MAX_BYTES });
    const response = await fetchService(url, { headers: { accept: 'application/json' } });
    if (response.ok) return await readJson(response);
    status = response.status;
    await response.body?.cancel();
  } catch (cause) {
    throw createServiceError(origin, getErrorMessage(cause), cause);
  }
  throw createServiceError(origin, `${pathname} answers ${status}`);
}
