import type { SkillDeps } from '../../../skills/skill.ts';
import { getEasExplorerUrl } from '../../chain/addresses.ts';
import { createAttestationReader } from '../../chain/eas/attestation-reader.ts';
import { createCache } from '../../platform/cache.ts';
import { DistributionScores } from '../../record/distributions/distribution-scores.ts';
import { StatisticsService } from '../../record/statistics/statistics-service.ts';
import type { VenueMarket } from '../../transports/http/deps.ts';
import type { Venue } from '../../wager/venue.ts';
import type { ServiceCore } from '../core.ts';
import type { Venues } from '../pipeline/venues.ts';
import type { ProcessContext } from '../process-context.ts';

export function composeSkillDeps({ config }: ProcessContext, deps: ServiceCore & Venues): SkillDeps {
  const { db, chain, wallets, venue, paper, saltSecret, record, timestamps, models, figures, wagers, crowd, market, publicUrl, now } = deps;
  const { name: venueName, sameBook } = venue;
  const quotes = createCache<VenueMarket[]>('venue-markets', 1);
  return {
    publicUrl,
    record,
    distributionScores: new DistributionScores(db),
    timestamps,
    wagers,
    crowd,
    venueName,
    sameBook,
    market,
    models,
    saltSecret,
    now,
    statistics: new StatisticsService({ record, models, figures, wagers, crowd, venueName, sameBook, now }),
    // The strikes of other venues are in the market's snapshots.
    venueMarkets: async () => (venue === paper ? quotes.get(Math.floor(Date.now() / 60_000), () => quoteMarkets(paper, now())) : []),
    chainId: chain.chainId,
    attestations: createAttestationReader(chain),
    attesterAddress: wallets.attester.address,
    addresses: chain.addresses,
    explorerUrl: config.chainMode === 'real' ? getEasExplorerUrl(chain.chainId) : null,
    viewFor: (caller) => ({ caller, policy: config.REVEAL, now: now(), saltSecret }),
  };
}

async function quoteMarkets(venue: Venue, at: Date): Promise<VenueMarket[]> {
  const markets = await venue.listMarkets(at);
  return Promise.all(markets.map(async (market) => ({ market, quote: await venue.getQuote(market, at) })));
}
