import { OracleError } from '../../../errors.ts';
import type { Provider } from '../provider.ts';
import type { ProviderId } from '../providers.ts';
import type { StrikeSource } from '../sources/strike-source.ts';
import type { LiveStores } from '../stores.ts';
import type { Poll } from './poll.ts';

export interface StrikesParts {
  stores: LiveStores;
  providers: Record<ProviderId, Provider>;
}

const QUARTER_HOUR_MS = 15 * 60_000;

/** Asks a prediction market for its strikes near the money: past odds are kept by nobody else. */
export function strikesPoll(source: StrikeSource, { stores, providers }: StrikesParts): Poll {
  return {
    id: `strikes/${source.providers[0]}`,
    everyMs: QUARTER_HOUR_MS,
    retryMs: 60_000,
    async run(nowMs) {
      const spot = await stores.spots.at(nowMs);
      if (spot === null) throw new OracleError('FEED_UNAVAILABLE', 'strikes near the money need a price first');
      await stores.strikes.save(await source.fetch(providers, { spotUsd: spot.priceUsd, atMs: nowMs }));
      return undefined;
    },
  };
}
