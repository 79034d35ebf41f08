import { readJson } from '../../platform/outbound/bounded-json.ts';
import { createOperatorFetch } from '../../platform/outbound/operator-fetch.ts';
import { createServiceClaims, type ServiceClaims } from '../claims/service-claims.ts';

const LIMITS = { timeoutMs: 30_000, maxBytes: 16 * 2 ** 20 };

/** Reads the scorecards of a running service from Node. @param url may have a path */
export function claimsOf(url: string): ServiceClaims {
  const base = url.replace(/\/+$/, '');
  const fetchService = createOperatorFetch({ base, ...LIMITS });
  return createServiceClaims(base, async (path) => {
    const response = await fetchService(`${base}/${path}`, { headers: { accept: 'application/json' } });
    if (response.ok) return readJson(response);
    await response.body?.cancel();
    throw new Error(`it answers ${response.status}`);
  });
}
