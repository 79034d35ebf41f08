import type { Feed } from './feed.ts';
import { PROVIDERS, type ProviderId } from './live/providers/providers.ts';

/** Terms of use of a series: those of its providers, or of the feed for simulated and CSV data. */
export function getLicences({ kind, source }: Pick<Feed, 'kind' | 'source'>, providers: readonly { provider: ProviderId }[]) {
  if (kind === 'simulated') return [{ of: source, licence: 'simulated data, free of third-party rights' }];
  if (kind === 'csv') return [{ of: source, licence: 'licence of the files, unknown to the service' }];
  return providers.map(({ provider }) => ({ of: PROVIDERS[provider].title, licence: PROVIDERS[provider].licence }));
}
