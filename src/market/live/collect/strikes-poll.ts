import { OracleError } from '../../../platform/errors.ts';
import type { Provider } from '../providers/provider.ts';
import type { ProviderId } from '../providers/providers.ts';
import type { StrikeSource } from '../sources/strikes/strike-source.ts';
import type { LiveStores } from '../store/live-stores.ts';
import type { Poll } from './poll.ts';

export interface StrikesPollDeps {
  stores: LiveStores;
  providers: Record<ProviderId, Provider>;
}

const QUARTER_HOUR_MS = 15 * 60_000;

/** Asks a prediction market for its strikes near the money: past odds are kept by nobody else. */
export function createStrikesPoll(source: StrikeSource, { stores, providers }: StrikesPollDeps): Poll {
  return {
    id: `strikes/${source.providers[0]}`,
    everyMs: QUARTER_HOUR_MS,
    retryMs: 60_000,
    async run(nowMs) {
      const spot = await stores.spots.findAt(nowMs);
      if (spot === null) throw new OracleError('FEED_UNAVAILABLE', 'strikes near the money need a price first');
      await stores.strikes.save(await source.fetch(providers, { spotUsd: spot.priceUsd, atMs: nowMs }));
      return undefined;
    },
  };
}
