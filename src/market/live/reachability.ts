import { createOperatorFetch } from '../../platform/outbound/operator-fetch.ts';
import { getBaseUrl, type ProviderUrls } from './providers/provider-urls.ts';
import type { ProviderId } from './providers/providers.ts';

/** Cheap public endpoint of each venue. */
const PROBES: Partial<Record<ProviderId, string>> = {
  coinbase: '/time',
  kraken: '/0/public/Time',
  bitstamp: '/api/v2/ticker/btcusd/',
  binance: '/api/v3/time',
};

const MIN_VENUES = 2;
const PROBE_TIMEOUT_MS = 2_800;
const MAX_BYTES = 1_000_000;

/** True once two venues respond; false when they do not within three seconds. */
export async function isLiveReachable(urls: ProviderUrls): Promise<boolean> {
  const probes = Object.entries(PROBES).map(([provider, path]) => probe(getBaseUrl(urls, provider as ProviderId), path));
  let responses = 0;
  return new Promise((resolve) => {
    for (const pending of probes) void pending.then((ok) => ok && ++responses === MIN_VENUES && resolve(true));
    void Promise.all(probes).then(() => resolve(false));
  });
}

async function probe(base: string, path: string): Promise<boolean> {
  try {
    const response = await createOperatorFetch({ base, timeoutMs: PROBE_TIMEOUT_MS, maxBytes: MAX_BYTES })(`${base}${path}`);
    await response.json();
    return response.ok;
  } catch {
    return false;
  }
}
