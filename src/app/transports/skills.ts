import type { SkillDeps } from '../../../skills/deps.ts';
import { getEasExplorerUrl } from '../../chain/addresses.ts';
import { createAttestationReader } from '../../chain/eas/attestation-reader.ts';
import type { Market } from '../../market/market.ts';
import { createCache } from '../../platform/cache.ts';
import type { ForecastRecord } from '../../record/forecast-record.ts';
import type { ModelStore } from '../../record/model-store.ts';
import { StatisticsService } from '../../record/statistics/statistics-service.ts';
import type { VenueMarket } from '../../transports/http/deps.ts';
import type { WagerBook } from '../../wager/wager-book.ts';
import type { ComposedChain } from '../chain/chain.ts';
import { quoteMarkets, type Venues } from '../pipeline/venues.ts';
import type { ProcessContext } from '../process-context.ts';

export interface ComposeSkillDeps extends Pick<ComposedChain, 'chain' | 'wallets'>, Pick<Venues, 'venue' | 'paper'> {
  saltSecret: string;
  record: ForecastRecord;
  models: ModelStore;
  wagers: WagerBook;
  market: Market;
  /** Where callers reach the service. */
  publicUrl: string;
  now(): Date;
}

/** What answers are made of, through whichever door they are asked for. */
export function composeSkillDeps({ config }: Pick<ProcessContext, 'config'>, deps: ComposeSkillDeps): SkillDeps {
  const { chain, wallets, venue, paper, saltSecret, record, models, wagers, market, publicUrl, now } = deps;
  const { name: venueName, sameBook } = venue;
  const quoted = createCache<VenueMarket[]>('venue-markets', 1);
  return {
    ...{ publicUrl, record, wagers, venueName, sameBook, market, models, saltSecret, now },
    statistics: new StatisticsService({ record, models, wagers, venueName, sameBook, now }),
    // Somebody else's strikes are in the market's snapshots.
    venueMarkets: async () => (venue === paper ? quoted.get(Math.floor(Date.now() / 60_000), () => quoteMarkets(paper)) : []),
    chainId: chain.chainId,
    attestations: createAttestationReader(chain),
    attesterAddress: wallets.attester.address,
    addresses: chain.addresses,
    explorerUrl: config.chainMode === 'real' ? getEasExplorerUrl(chain.chainId) : null,
    viewFor: (caller) => ({ caller, policy: config.REVEAL, now: now(), saltSecret }),
  };
}
