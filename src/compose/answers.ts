import type { SkillParts } from '../../skills/parts.ts';
import { createAttestationReader } from '../chain/attestation-reader.ts';
import { explorerOf } from '../chain/explorer.ts';
import type { VenueMarket } from '../http/parts.ts';
import { createCache } from '../market/cache.ts';
import type { Market } from '../market/market.ts';
import type { ModelStore } from '../record/models.ts';
import type { ForecastRecord } from '../record/record.ts';
import { StatisticsDesk } from '../record/statistics/desk.ts';
import type { WagerBook } from '../wager/wagers.ts';
import type { ComposedChain } from './chain.ts';
import type { Frame } from './frame.ts';
import { quotedMarkets, type Venues } from './venues.ts';

export interface AnswersComposition extends Pick<ComposedChain, 'chain' | 'wallets'>, Pick<Venues, 'venue' | 'paper'> {
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
export function composeAnswers({ config }: Pick<Frame, 'config'>, parts: AnswersComposition): SkillParts {
  const { chain, wallets, venue, paper, saltSecret, record, models, wagers, market, publicUrl, now } = parts;
  const { name: venueName, sameBook } = venue;
  const quoted = createCache<VenueMarket[]>('venue-markets', 1);
  return {
    ...{ publicUrl, record, wagers, venueName, sameBook, market, models, saltSecret, now },
    statistics: new StatisticsDesk({ record, models, wagers, venueName, sameBook, now }),
    // Somebody else's strikes are in the market's snapshots.
    venueMarkets: async () => (venue === paper ? quoted.get(Math.floor(Date.now() / 60_000), () => quotedMarkets(paper)) : []),
    chainId: chain.chainId,
    attestations: createAttestationReader(chain),
    attesterAddress: wallets.attester.address,
    addresses: chain.addresses,
    explorerUrl: config.chainMode === 'real' ? explorerOf(chain.chainId) : null,
    viewFor: (caller) => ({ caller, policy: config.REVEAL, now: now(), saltSecret }),
  };
}
