import { createOperatorFetch } from '../../platform/outbound/operator-fetch.ts';
import { getBaseUrl, type ProviderUrls } from './providers/provider-urls.ts';
import type { ProviderId } from './providers/providers.ts';

/** What each venue answers quickly and for nothing. */
const PROBES: Partial<Record<ProviderId, string>> = {
  coinbase: '/time',
  kraken: '/0/public/Time',
  bitstamp: '/api/v2/ticker/btcusd/',
  binance: '/api/v3/time',
};

/** One venue alone makes no market. */
const MIN_VENUES = 2;
const PROBE_TIMEOUT_MS = 2_800;
const MAX_BYTES = 1_000_000;

/** Whether live data can be had: two venues answer within three seconds. */
export async function isLiveReachable(urls: ProviderUrls): Promise<boolean> {
  const probes = Object.entries(PROBES).map(([provider, path]) => probe(getBaseUrl(urls, provider as ProviderId), path));
  let answered = 0;
  return new Promise((resolve) => {
    for (const pending of probes) void pending.then((ok) => ok && ++answered === MIN_VENUES && resolve(true));
    void Promise.all(probes).then(() => resolve(false));
  });
}

async function probe(base: string, path: string): Promise<boolean> {
  try {
    const answer = await createOperatorFetch({ base, timeoutMs: PROBE_TIMEOUT_MS, maxBytes: MAX_BYTES })(`${base}${path}`);
    await answer.json();
    return answer.ok;
  } catch {
    return false;
  }
}
