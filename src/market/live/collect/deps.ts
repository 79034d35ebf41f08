import type { Provider } from '../providers/provider.ts';
import type { ProviderId } from '../providers/providers.ts';
import type { LiveStores } from '../store/live-stores.ts';

export interface CollectDeps {
  stores: LiveStores;
  providers: Record<ProviderId, Provider>;
  now(): number;
}
