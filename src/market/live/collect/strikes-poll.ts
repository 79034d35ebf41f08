import { OracleError } from '../../../platform/errors.ts';
import type { StrikeSource } from '../sources/strikes/strike-source.ts';
import type { CollectDeps } from './deps.ts';
import type { Poll } from './poll.ts';

/** Stores the strikes near the money of a prediction market, since venues publish no past odds. */
export function createStrikesPoll(source: StrikeSource, { stores, providers }: Omit<CollectDeps, 'now'>): Poll {
  return {
    id: `strikes/${source.providers[0]}`,
    everyMs: 15 * 60_000,
    retryMs: 60_000,
    async run(nowMs) {
      const spot = await stores.spots.findAt(nowMs);
      if (spot === null) throw new OracleError('FEED_UNAVAILABLE', 'strikes near the money need a price first');
      await stores.strikes.save(await source.fetch(providers, { spotUsd: spot.priceUsd, atMs: nowMs }));
      return undefined;
    },
  };
}
