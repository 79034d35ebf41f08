import type { Db } from 'mongodb';
import { type LiveMarket, openLiveMarket } from '../../../src/market/live/live-market.ts';
import { parseProviderUrls } from '../../../src/market/live/providers.ts';
import { openSimulatedFeed } from '../../../src/market/simulated.ts';
import type { Log } from '../../../src/platform/log.ts';
import type { TrustedTime } from '../../../src/platform/time.ts';
import { derivativesAnswers } from '../provider-data/derivatives.ts';
import { macroAnswers } from '../provider-data/macro.ts';
import { onchainAnswers } from '../provider-data/onchain.ts';
import { sentimentAnswers } from '../provider-data/sentiment.ts';
import { strikesAnswers } from '../provider-data/strikes.ts';
import { venuesAnswers } from '../provider-data/venues.ts';
import { answersOf, type ProviderHost, startProviderHost } from './provider-host.ts';

const GROUPS = [venuesAnswers, derivativesAnswers, sentimentAnswers, macroAnswers, onchainAnswers, strikesAnswers];

/** The market that all providers of the host serve. */
export const hostedMarket = openSimulatedFeed({ seed: 2 });

/** Every provider of live data on a loopback server, each in its own format, all with the same market. */
export function startLiveHost(now: () => number = Date.now): Promise<ProviderHost> {
  return startProviderHost(answersOf(hostedMarket, GROUPS), now);
}

/** Quick waits: what is tested is what happens after them. */
const TIMING = { minIntervalMs: 0, attempts: 1, halfOpenAfterMs: 1 };

export interface HostedOptions {
  host: ProviderHost;
  db: Db;
  log: Log;
  now(): number;
  time?: Pick<TrustedTime, 'findDisagreement'>;
}

/** A live market that asks the providers of a host. */
export function openHostedMarket({ host, ...options }: HostedOptions): LiveMarket {
  const urls = parseProviderUrls(host.providerUrls);
  const signal = new AbortController().signal;
  return openLiveMarket({ ...options, urls, sosovalueKey: undefined, venueDays: 400, signal, timing: TIMING });
}
