import type { Log } from '../../../platform/log.ts';
import { GuardedProvider } from './guarded-provider.ts';
import type { Provider } from './provider.ts';
import { PROVIDER_TIMING, type ProviderTiming } from './provider-timing.ts';
import { getBaseUrl, type ProviderUrls } from './provider-urls.ts';
import { PROVIDER_IDS, type ProviderId } from './providers.ts';

interface ProvidersOptions {
  urls: ProviderUrls;
  log: Log;
  now?: () => number;
  timing?: Partial<ProviderTiming>;
  /** Aborts every call with its reason. */
  signal?: AbortSignal;
}

export function createProviders({ urls, log, now = Date.now, timing, signal }: ProvidersOptions): Record<ProviderId, Provider> {
  const shared = { log, now, timing: { ...PROVIDER_TIMING, ...timing }, signal: signal ?? new AbortController().signal };
  const entries = PROVIDER_IDS.map((id) => [id, new GuardedProvider(id, { ...shared, baseUrl: getBaseUrl(urls, id) })]);
  return Object.fromEntries(entries) as Record<ProviderId, Provider>;
}
