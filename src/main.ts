import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { privateKeyToAccount } from 'viem/accounts';
import { IDENTITY } from '../agent-card/identity.ts';
import { REGISTRATION_PATH } from '../agent-card/registration.ts';
import packageJson from '../package.json' with { type: 'json' };
import { createAttestationReader } from './chain/attestation-reader.ts';
import { createAttester } from './chain/attester.ts';
import { createChain } from './chain/client.ts';
import { ensureIdentity, updateAgentUri } from './chain/identity.ts';
import { openJournal } from './chain/journal.ts';
import { createReporter, readReputation } from './chain/reputation.ts';
import { createWallet, type WalletRole } from './chain/wallet.ts';
import { type Config, listenHost, loadConfig, secretValues } from './config.ts';
import { OracleError } from './errors.ts';
import { dayOf, instantOf } from './forecast/day.ts';
import { HORIZONS } from './forecast/model.ts';
import { createApp, createStartingApp } from './http/app.ts';
import type { HttpParts, VenueMarket } from './http/parts.ts';
import { allRoutes, workerRoutes } from './http/routes/all.ts';
import { type HttpServer, listen } from './http/server.ts';
import { bannerText } from './local/banner.ts';
import { type Infrastructure, openInfrastructure } from './local/infrastructure.ts';
import { createProgressBar } from './local/progress.ts';
import { type ReplayRange, replay, replayRange, replayUnfinished } from './local/replay.ts';
import { requireSameHistory } from './local/same-history.ts';
import { createLog, type Log } from './log.ts';
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
import { catchUp } from './pipeline/catch-up.ts';
import { Forecaster } from './pipeline/forecaster.ts';
import type { PipelineParts } from './pipeline/parts.ts';
import { readiness } from './pipeline/readiness.ts';
import type { Schedule, ScheduledJob } from './pipeline/schedule.ts';
import { statusOf } from './pipeline/status.ts';
import { STEP_RUN_INDEXES, StepRuns } from './pipeline/step-runs.ts';
import { ModelStore } from './record/models.ts';
import { ForecastRecord, RECORD_INDEXES } from './record/record.ts';
import { createShutdown, type Shutdown, stopOnSignals } from './shutdown.ts';
import { PAPER_INDEXES, PaperVenue } from './wager/paper-venue.ts';
import { POLYMARKET_INDEXES } from './wager/polymarket/orders.ts';
import { type PolymarketStrike, PolymarketVenue } from './wager/polymarket/polymarket-venue.ts';
import type { TradingAccount } from './wager/polymarket/trading.ts';
import { MICROS, type Venue } from './wager/venue.ts';
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
    publicUrl: () => publicUrl ?? agent.identity.agentUri.replace(REGISTRATION_PATH, ''),
    heldBack: async () => ((await replayUnfinished(db)) ? 'the replay of past days is not finished; npm start finishes it' : null),
    runs: new StepRuns(db, log),
    log,
  };

  const state: Service['state'] = { schedule: null, setup: 'starting' };
  const quoted = createCache<VenueMarket[]>('venue-markets', 1);
  const ready = { chain, market, pingDatabase: () => database.ping(), setup: () => state.setup, now };
  const http: HttpParts = {
    version: packageJson.version,
    publicUrl: pipeline.publicUrl(),
    record,
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
    readiness: () => readiness(ready),
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
    now,
  };
  const announce = async () => {
    agent.identity = await updateAgentUri(chain, attesterWallet, agent.identity, agentUri);
  };
  return { config, log, shutdown, infrastructure, database, pipeline, replayVenue: paper, http, live, range, feedReason, state, announce };
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

/** Polymarket as the settings want it, and behind it, where it is not the same, the dry run that wagers may still stand in. */
function polymarketVenues({ config, log }: Frame, db: Database['db'], market: Market): [PolymarketVenue, ...PolymarketVenue[]] {
  const open = (account: TradingAccount | null) =>
    new PolymarketVenue({
      db,
      host: config.POLYMARKET_HOST,
      account,
      dryRunBalanceMicros: config.PAPER_BANKROLL_USD * MICROS,
      maxStakeUsd: config.WAGER_MAX_STAKE_USD,
      maxOpenUsd: config.WAGER_MAX_OPEN_USD,
      killSwitch: config.WAGER_KILL_SWITCH === 'on',
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
  return strikes.flatMap(({ venue, conditionId, question, strikeUsd, expiresAtMs }) =>
    venue === 'polymarket' && conditionId !== null ? [{ conditionId, question, strikeUsd, expiresAt: new Date(expiresAtMs) }] : [],
  );
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

/** Fetches the history and replays a first start, then runs the jobs; what is overdue is caught up with first. */
async function startPipeline(service: Service): Promise<void> {
  const { config, log, shutdown, infrastructure, database, pipeline, replayVenue, live, range, state } = service;
  const { localChain } = infrastructure;
  if (live !== null) await fetchHistory(live, service);
  if (localChain !== null) {
    const bar = createProgressBar('Replaying');
    await replay({
      db: database.db,
      parts: { ...pipeline, venue: replayVenue },
      range,
      chain: localChain,
      onProgress: ({ done, total, day }) => {
        state.setup = `replaying history: ${done} of ${total} days`;
        bar.update(done, total, new Date(instantOf(day)).toISOString().slice(0, 10));
      },
      signal: shutdown.signal,
    });
    bar.end();
    await localChain.setTimeToNow();
  }
  if (config.ROLE === 'api') return;
  await catchUp(pipeline, { now: now(), replayed: false }).catch((error: unknown) => log.error({ err: error }, 'catching up failed'));
  // Loaded here only: a process that just answers keeps the memory.
  const { startSchedule } = await import('./pipeline/schedule.ts');
  const schedule = await startSchedule({ db: database.db, parts: pipeline, log, now, jobs: live === null ? {} : collectJobs(live) });
  shutdown.onStop('jobs', () => schedule.drain(6_000));
  state.schedule = schedule;
}

/** Jobs of their own, so that a provider that is slow to answer, or a long history, holds up nothing else. */
function collectJobs(live: LiveMarket): Record<string, ScheduledJob> {
  return {
    prices: { cron: '* * * * *', run: live.collectPrices },
    collect: { cron: '* * * * *', run: live.collect },
    history: { cron: '*/15 * * * *', run: live.completeHistory },
  };
}

const HISTORY_RETRY_MS = 15_000;

/** Waits for the history that forecasts need; what else is missing the collector goes on asking for. */
async function fetchHistory(live: LiveMarket, { state, shutdown, log }: Service): Promise<void> {
  const bar = createProgressBar('Fetching history');
  for (let attempt = 1; ; attempt++) {
    await live.collectPrices();
    const missing = await live.fetchHistory(({ done, total, label }) => {
      state.setup = `fetching market history: ${done} of ${total} pieces`;
      bar.update(done, total, label);
    });
    const needed = missing.filter(({ required }) => required);
    if (attempt === 1 && missing.length > 0) log.warn({ missing }, 'market history is incomplete: asking again later');
    if (needed.length === 0) break;
    state.setup = `waiting for market history: ${needed.map(({ reason }) => reason).join('; ')}`;
    await delay(HISTORY_RETRY_MS, undefined, { signal: shutdown.signal });
  }
  bar.end();
  // What is slow to answer must not hold up the day's steps.
  live.collect().catch((error: unknown) => log.error({ err: error }, 'collecting market data failed'));
}

async function start(frame: Frame): Promise<void> {
  const { config, log, shutdown } = frame;
  const host = listenHost(config);
  const server = await listen(createStartingApp(log), config.PORT, host);
  shutdown.onStop('http', () => server.close());
  const url = localUrl(host, server);
  const service = await assemble(frame, url);
  server.serve(createApp((config.ROLE === 'worker' ? workerRoutes : allRoutes)(service.http), log));
  await startPipeline(service);
  // A second process on the same chain speaks for the service only under the address it was told.
  if (config.PUBLIC_URL !== undefined || service.infrastructure.localChain !== null) await service.announce();
  service.state.setup = null;
  process.stdout.write(await banner(service, url));
}

async function banner({ config, http, infrastructure, feedReason }: Service, url: string): Promise<string> {
  const { record } = http;
  const [from, to, replayedDays] = await Promise.all([record.genesis(), record.lastDay(), record.days.countDocuments({ replayed: true })]);
  return bannerText({
    name: IDENTITY.name,
    version: http.version,
    url,
    source: http.market.source,
    reason: feedReason,
    record: from === null || to === null ? null : { from, to, replayedDays },
    demo: infrastructure.demo,
    demoPath: join(config.DATA_DIR, 'demo.json'),
    exampleUid: await record.exampleUid(),
  });
}

function localUrl(host: string, { port }: HttpServer): string {
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${shown}:${port}`;
}

/** Reads the settings and prepares what outlives any part: the log and the way to stop. */
export function openFrame(): Frame {
  const config = loadConfig();
  const log = createLog({ level: config.LOG_LEVEL, secrets: secretValues(config) });
  const shutdown = createShutdown({ log });
  stopOnSignals(shutdown, log);
  return { config, log, shutdown };
}

function failFromOutside({ log, shutdown }: Frame, error: OracleError): void {
  log.error({ err: error }, 'a part of the service ended by itself');
  void shutdown.stop(error.message).then(() => process.exit(1));
}

/** Starts the service; an error of the start ends the process with code 1 and says what to do. */
export async function main(): Promise<void> {
  await runOrExplain(start);
}

/** Runs work within the frame of the process; what it throws is told to a person, and the process ends with code 1. */
export async function runOrExplain(work: (frame: Frame) => Promise<void>): Promise<void> {
  let frame: Frame | undefined;
  try {
    frame = openFrame();
    await work(frame);
  } catch (error) {
    // A signal ends the process itself: what its stop interrupts is no error of its own.
    if (frame?.shutdown.signal.aborted) return;
    process.stderr.write(explain(error));
    await frame?.shutdown.stop('the start failed');
    process.exit(1);
  }
}

function explain(error: unknown): string {
  if (!(error instanceof OracleError)) return `${error instanceof Error ? error.stack : String(error)}\n`;
  const action = error.suggestedAction === undefined ? '' : `\n  -> ${error.suggestedAction}`;
  return `\n${error.code}: ${error.message}${action}\n`;
}
