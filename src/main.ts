import { privateKeyToAccount } from 'viem/accounts';
import { REGISTRATION_PATH } from '../agent-card/registration.ts';
import packageJson from '../package.json' with { type: 'json' };
import { ACCESS_INDEXES } from './access/access.ts';
import { REQUEST_COUNT_INDEXES } from './access/request-counts.ts';
import { createAttestationReader } from './chain/attestation-reader.ts';
import { createAttester } from './chain/attester.ts';
import { createChain } from './chain/client.ts';
import { ensureIdentity, updateAgentUri } from './chain/identity.ts';
import { openJournal } from './chain/journal.ts';
import { createReporter, readReputation } from './chain/reputation.ts';
import { createWallet, type WalletRole } from './chain/wallet.ts';
import { COMMERCE_INDEXES } from './commerce/ledger.ts';
import { composeAbout } from './compose/about.ts';
import { composeAccess } from './compose/access.ts';
import { composeAdministration } from './compose/administration.ts';
import { composeCommerce } from './compose/commerce.ts';
import { composeContest } from './compose/contest.ts';
import { composeDoor, sharedWhileUnderWay } from './compose/door.ts';
import { openReports, REPORT_INDEXES } from './compose/reports.ts';
import { composeWebhooks } from './compose/webhooks.ts';
import type { Config } from './config.ts';
import { CONTEST_INDEXES } from './contest/parts.ts';
import { OracleError } from './errors.ts';
import { dayOf, instantOf } from './forecast/day.ts';
import { HORIZONS } from './forecast/model.ts';
import { AUDIT_INDEXES } from './http/admin/audit-log.ts';
import type { AppOptions } from './http/app.ts';
import type { HttpParts, VenueMarket } from './http/parts.ts';
import { type Infrastructure, openInfrastructure } from './local/infrastructure.ts';
import { type ReplayRange, replayRange, replayUnfinished } from './local/replay.ts';
import { requireSameHistory } from './local/same-history.ts';
import type { Log } from './log.ts';
import { createCache } from './market/cache.ts';
import { openLiveFeed } from './market/live/feed.ts';
import type { LiveMarket } from './market/live/live-market.ts';
import { parseProviderUrls } from './market/live/provider-urls.ts';
import { isLiveReachable } from './market/live/reachable.ts';
import { LIVE_INDEXES, openLiveStores } from './market/live/stores.ts';
import { createMarket, type Market } from './market/market.ts';
import { chooseFeed } from './market/open.ts';
import { weeklyStrikes } from './market/strikes.ts';
import { connectMongo, type Database, ensureIndexes } from './mongo.ts';
import { Forecaster } from './pipeline/forecaster.ts';
import type { PipelineParts } from './pipeline/parts.ts';
import { readiness } from './pipeline/readiness.ts';
import type { Schedule } from './pipeline/schedule.ts';
import { statusOf } from './pipeline/status.ts';
import { STEP_RUN_INDEXES, StepRuns } from './pipeline/step-runs.ts';
import { WEBHOOK_INDEXES } from './push/webhooks/store.ts';
import { listingOf } from './record/intent/listing.ts';
import { ModelStore } from './record/models.ts';
import { ForecastRecord, RECORD_INDEXES } from './record/record.ts';
import type { Shutdown } from './shutdown.ts';
import { PAPER_INDEXES, PaperVenue } from './wager/paper-venue.ts';
import { POLYMARKET_INDEXES } from './wager/polymarket/orders.ts';
import { type PolymarketStrike, PolymarketVenue } from './wager/polymarket/polymarket-venue.ts';
import type { TradingAccount } from './wager/polymarket/trading.ts';
import { MICROS, type Venue } from './wager/venue.ts';
import { WagerSwitch } from './wager/wager-switch.ts';
import { WAGER_INDEXES, WagerBook } from './wager/wagers.ts';

/** What the doors, the schedule and the commands stand on. */
export interface Service {
  config: Config;
  log: Log;
  shutdown: Shutdown;
  infrastructure: Infrastructure;
  database: Database;
  pipeline: PipelineParts;
  /** Where replayed days wager: no other venue has quotes of the past. */
  replayVenue: Venue;
  http: HttpParts;
  /** What stands before the routes of HTTP. */
  door: AppOptions;
  /** What collects live data; null where the feed asks nobody. */
  live: LiveMarket | null;
  /** Range for a first replay; null where there is none. */
  range: ReplayRange | null;
  feedReason: string | null;
  /** Points the on-chain identity to this service's address. A transaction of now: not before a replay of the past. */
  announce(): Promise<void>;
  /** The running jobs, and what is left of the start; both change while the service comes up. */
  state: { schedule: Schedule | null; setup: string | null };
}

export interface Frame {
  config: Config;
  log: Log;
  shutdown: Shutdown;
}

const now = () => new Date();

/**
 * Constructs every part, from the data up: feed, database and chain, wallets, record, wagers, pipeline, doors. `address` is where
 * callers reach this process; null for one that serves nobody and speaks under the address that is registered.
 */
export async function assemble({ config, log, shutdown }: Frame, address: string | null): Promise<Service> {
  const real = config.chainMode === 'real';
  if (real && config.FEEDS === 'simulated') throw simulatedOnRealChain();
  const urls = parseProviderUrls(config.PROVIDER_URLS ?? '');
  // A record on a real chain is for good: live data that cannot be reached is waited for there, never replaced.
  const choice = await chooseFeed(real && config.FEEDS === 'auto' ? 'live' : config.FEEDS, {
    seed: config.SIMULATION_SEED,
    isLiveReachable: () => isLiveReachable(urls),
  });
  const range = real ? null : replayRange(choice.coverage, dayOf(Date.now()), config.REPLAY_DAYS);

  const infrastructure = await openInfrastructure({
    config,
    shutdown,
    genesisMs: range === null ? undefined : instantOf(range.from),
    onFailure: (error) => failFromOutside({ config, log, shutdown }, error),
  });
  const { contracts, keys, saltSecret } = infrastructure;
  const database = await connectMongo(infrastructure.mongodbUri);
  shutdown.onStop('database connection', () => database.close());
  const { db } = database;
  await ensureIndexes(db, [
    ...RECORD_INDEXES,
    ...WAGER_INDEXES,
    ...PAPER_INDEXES,
    ...STEP_RUN_INDEXES,
    ...LIVE_INDEXES,
    ...POLYMARKET_INDEXES,
    ...CONTEST_INDEXES,
    ...ACCESS_INDEXES,
    ...REQUEST_COUNT_INDEXES,
    ...COMMERCE_INDEXES,
    ...WEBHOOK_INDEXES,
    ...REPORT_INDEXES,
    ...AUDIT_INDEXES,
  ]);

  const chain = await createChain({
    rpcUrl: infrastructure.rpcUrl,
    chainId: config.CHAIN_ID,
    confirmations: config.CONFIRMATIONS ?? (real ? 5 : 1),
    pollingIntervalMs: real ? 1_000 : 2,
    addresses: contracts,
  });
  const journal = await openJournal(db);
  const wallet = (role: WalletRole & keyof typeof keys) =>
    createWallet({ chain, journal, role, account: privateKeyToAccount(keys[role]), signal: shutdown.signal });
  const attesterWallet = wallet('attester');
  const reporterWallet = wallet('reporter');

  const record = new ForecastRecord({ db, saltSecret, horizons: HORIZONS });
  const { feed, reason: feedReason } = choice.settle(await record.source());
  const live = feed === null && config.ROLE !== 'api' ? await liveMarket({ config, log, shutdown }, db) : null;
  const market = feed === null ? liveReading(db, live) : createMarket(feed);
  if (config.WAGERS === 'polymarket' && market.kind !== 'live') throw polymarketNeedsLive(market.source);
  await requireSameHistory({ record, market, chain, journal, local: !real });
  const publicUrl = config.PUBLIC_URL ?? address;
  const agentUri = `${publicUrl ?? `http://127.0.0.1:${config.PORT}`}${REGISTRATION_PATH}`;
  const agent = { identity: await ensureIdentity(chain, { agentUri, wallet: attesterWallet }) };

  const models = new ModelStore(db);
  const wagers = new WagerBook(db);
  const paper = paperVenue(db, config, record, market);
  const polymarket = polymarketVenues({ config, log, shutdown }, db, market);
  const venue = config.WAGERS === 'polymarket' ? polymarket[0] : paper;
  const pipeline: PipelineParts = {
    record,
    saltSecret,
    market,
    forecaster: new Forecaster(models),
    attester: createAttester(chain, attesterWallet),
    reporter: createReporter({ chain, wallet: reporterWallet, agentId: async () => agent.identity.agentId }),
    wagers,
    venue,
    otherVenues: [paper, ...polymarket].filter((other) => other !== venue),
    placeWagers: config.WAGERS !== 'off' && config.WAGER_KILL_SWITCH === 'off',
    wagerSwitch: new WagerSwitch(db),
    publicUrl: () => publicUrl ?? agent.identity.agentUri.replace(REGISTRATION_PATH, ''),
    heldBack: async () => ((await replayUnfinished(db)) ? 'the replay of past days is not finished; npm start finishes it' : null),
    reports: openReports(db),
    runs: new StepRuns(db, log),
    log,
  };

  const { encryptionSecret } = infrastructure;
  const { agentId } = agent.identity;
  const access = await composeAccess({ db, chain, encryptionSecret, agentId, publicUrl: pipeline.publicUrl(), now });
  const state: Service['state'] = { schedule: null, setup: 'starting' };
  const { administration, ...operator } = composeAdministration({ config, db, pipeline, state, log, now });
  const quoted = createCache<VenueMarket[]>('venue-markets', 1);
  const ready = { chain, market, pingDatabase: () => database.ping(), setup: () => state.setup, now };
  const http: HttpParts = {
    about: composeAbout({ config, chain, agentId, reporter: reporterWallet.address, now }),
    access,
    administration,
    contest: composeContest({ db, chain, record, models, market, agentId, now, log }),
    version: packageJson.version,
    publicUrl: pipeline.publicUrl(),
    record,
    reports: pipeline.reports,
    wagers,
    venueName: venue.name,
    sameBook: venue.sameBook,
    market,
    models,
    // Somebody else's strikes are in the market's snapshots.
    venueMarkets: async () => (venue === paper ? quoted.get(Math.floor(Date.now() / 60_000), () => quotedMarkets(paper)) : []),
    chainId: chain.chainId,
    addresses: chain.addresses,
    attestations: createAttestationReader(chain),
    attesterAddress: attesterWallet.address,
    explorerUrl: real ? 'https://base.easscan.org' : null,
    saltSecret,
    viewFor: (caller) => ({ caller, policy: config.REVEAL, now: now(), saltSecret }),
    identity: () => agent.identity,
    reputation: () => readReputation(chain, agent.identity.agentId, reporterWallet.address),
    readiness: sharedWhileUnderWay(() => readiness(ready)),
    status: () =>
      statusOf({
        version: packageJson.version,
        role: config.ROLE,
        feedReason,
        chain,
        localChain: !real,
        pipeline,
        readiness: ready,
        schedule: () => state.schedule,
        now,
      }),
    commerce: composeCommerce({ db, chain, payee: config.PAYEE_ADDRESS, realMoney: real }),
    webhooks: composeWebhooks({ db, encryptionSecret, allowLocal: config.PUSH_LOCAL_TARGETS === 'allow', now }),
    now,
  };
  const announce = async () => {
    agent.identity = await updateAgentUri(chain, attesterWallet, agent.identity, agentUri);
  };
  const door = composeDoor({ config, db, log, shutdown, now, identify: (authorization) => access.identify(authorization), ...operator });
  return {
    config,
    log,
    shutdown,
    infrastructure,
    database,
    pipeline,
    replayVenue: paper,
    http,
    door,
    live,
    range,
    feedReason,
    state,
    announce,
  };
}

/** Live data as it is kept, whoever collects it. */
function liveReading(db: Database['db'], live: LiveMarket | null): Market {
  const stores = live?.stores ?? openLiveStores(db, Date.now);
  return createMarket(live?.feed ?? openLiveFeed({ stores }), { pinClose: (close) => stores.closes.pin(close) });
}

async function liveMarket({ config, log, shutdown }: Frame, db: Database['db']): Promise<LiveMarket> {
  // Loaded here only: a process that just answers keeps the memory.
  const { openLiveMarket } = await import('./market/live/live-market.ts');
  return openLiveMarket({
    db,
    urls: parseProviderUrls(config.PROVIDER_URLS ?? ''),
    sosovalueKey: config.SOSOVALUE_API_KEY,
    // The longest horizon looks a week back, and venues have gaps.
    venueDays: config.REPLAY_DAYS + 14,
    log,
    now: Date.now,
    signal: shutdown.signal,
  });
}

/** A record on a real chain is for good: nothing made up goes into it. */
function simulatedOnRealChain(): OracleError {
  return new OracleError('CONFIG_INVALID', 'Setting FEEDS: simulated data is refused on a real chain', {
    field: 'FEEDS',
    suggestedAction: 'Set FEEDS to real data, or unset CHAIN_RPC_URL to try the service on a local chain.',
  });
}

/** Its strikes come with live data only. */
function polymarketNeedsLive(source: string): OracleError {
  return new OracleError('CONFIG_INVALID', `Setting WAGERS: polymarket needs live market data, not ${source}`, {
    field: 'WAGERS',
    suggestedAction: 'Set FEEDS=live, or WAGERS=paper.',
  });
}

/** Polymarket as the settings want it, and behind it, where it is not the same, the dry run that wagers may still stand in. */
function polymarketVenues({ config, log }: Frame, db: Database['db'], market: Market): [PolymarketVenue, ...PolymarketVenue[]] {
  const wagerSwitch = new WagerSwitch(db);
  const open = (account: TradingAccount | null) =>
    new PolymarketVenue({
      db,
      host: config.POLYMARKET_HOST,
      account,
      dryRunBalanceMicros: config.PAPER_BANKROLL_USD * MICROS,
      maxStakeUsd: config.WAGER_MAX_STAKE_USD,
      maxOpenUsd: config.WAGER_MAX_OPEN_USD,
      killSwitch: config.WAGER_KILL_SWITCH === 'on',
      isPaused: async () => (await wagerSwitch.state()).paused,
      strikes: (at) => listedStrikes(market, at),
      now,
      log,
    });
  const { POLYMARKET_PRIVATE_KEY: privateKey, POLYMARKET_SIGNATURE_TYPE: signatureType, POLYMARKET_FUNDER: funder } = config;
  const dryRun = open(null);
  if (privateKey === undefined) return [dryRun];
  const real = open({ privateKey, signatureType, funder });
  return config.POLYMARKET_DRY_RUN ? [dryRun, real] : [real, dryRun];
}

/** Polymarket's weekly strikes, as the market last saw them. */
async function listedStrikes(market: Market, at: Date): Promise<PolymarketStrike[]> {
  const strikes = weeklyStrikes(await market.strikes(at.getTime()), at.getTime());
  return strikes.flatMap((strike) => {
    const listing = listingOf(strike);
    if (strike.venue !== 'polymarket' || listing === null) return [];
    const { question, strikeUsd, expiresAtMs } = strike;
    return [{ conditionId: listing.conditionId, question, strikeUsd, expiresAt: new Date(expiresAtMs), listing }];
  });
}

/** All strikes of a venue with its quotes. */
async function quotedMarkets(venue: Venue): Promise<VenueMarket[]> {
  const at = now();
  const markets = await venue.markets(at);
  return Promise.all(markets.map(async (market) => ({ market, quote: await venue.quote(market, at) })));
}

function paperVenue(db: Database['db'], config: Config, record: ForecastRecord, market: Market): PaperVenue {
  return new PaperVenue({
    db,
    openingBalanceMicros: config.PAPER_BANKROLL_USD * MICROS,
    async reference(at) {
      const day = await record.day(dayOf(at.getTime()));
      if (!day?.price || !day.variance) throw new OracleError('STEP_WAITING', 'The paper venue quotes once the day has its forecast');
      return { spotUsd: day.price.cents / 100, dailyVolatility: Math.sqrt(day.variance.v94) };
    },
    close: async (day, at) => (await market.dailyClose(day, at.getTime())).priceUsd,
  });
}

function failFromOutside({ log, shutdown }: Frame, error: OracleError): void {
  log.error({ err: error }, 'a part of the service ended by itself');
  void shutdown.stop(error.message).then(() => process.exit(1));
}
