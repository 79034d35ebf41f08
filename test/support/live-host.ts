import { openSimulatedFeed } from '../../src/market/simulated/feed.ts';
import { derivativesAnswers } from './provider-data/derivatives.ts';
import { macroAnswers } from './provider-data/macro.ts';
import { onchainAnswers } from './provider-data/onchain.ts';
import { sentimentAnswers } from './provider-data/sentiment.ts';
import { strikesAnswers } from './provider-data/strikes.ts';
import { venuesAnswers } from './provider-data/venues.ts';
import { answersOf, type ProviderHost, startProviderHost } from './provider-host.ts';

const GROUPS = [venuesAnswers, derivativesAnswers, sentimentAnswers, macroAnswers, onchainAnswers, strikesAnswers];

/** The market that all providers of the host tell of. */
export const hostedMarket = openSimulatedFeed({ seed: 2 });

/** Every provider of live data on a loopback server, each in its own words, all telling of the same market. */
export function startLiveHost(now: () => number = Date.now): Promise<ProviderHost> {
  return startProviderHost(answersOf(hostedMarket, GROUPS), now);
}
