import type { FeedKind } from './feed.ts';
import { PROVIDERS, type ProviderId } from './live/providers/providers.ts';

/** On what terms somebody's data may be used, as far as that is known. */
export interface Licence {
  of: string;
  licence: string;
}

/** The terms of a series: of those who are asked for it, or of whatever else it comes from. */
export function getLicences(
  { kind, source }: { kind: FeedKind; source: string },
  providers: readonly { provider: ProviderId }[],
): Licence[] {
  if (kind === 'simulated') return [{ of: source, licence: 'made up by this program: nobody has rights in it' }];
  if (kind === 'csv') return [{ of: source, licence: 'that of the files, which is not known here' }];
  return providers.map(({ provider }) => ({ of: PROVIDERS[provider].title, licence: PROVIDERS[provider].licence }));
}
