import { join } from 'node:path';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { CardSource } from '../agent-card/card.ts';
import { REGISTRATION_PATH } from '../agent-card/registration.ts';
import { urlAt } from '../agent-card/url.ts';
import packageJson from '../package.json' with { type: 'json' };
import { createPaidCalls } from '../skills/paid-call.ts';
import type { SkillParts } from '../skills/parts.ts';
import { createCarryOut } from '../skills/runner.ts';
import type { Door } from './access/door.ts';
import { createAttestationReader } from './chain/attestation-reader.ts';
import { createAttester } from './chain/attester.ts';
import { createChain } from './chain/client.ts';
import { ensureIdentity, updateAgentUri } from './chain/identity.ts';
import { openJournal } from './chain/journal.ts';
import { createReporter, readReputation } from './chain/reputation.ts';
import { createWallet, type WalletRole } from './chain/wallet.ts';
import { composeA2a } from './compose/a2a.ts';
import { composeAbout } from './compose/about.ts';
import { composeAccess } from './compose/access.ts';
import { composeAdministration } from './compose/administration.ts';
import { composeCard } from './compose/card.ts';
import { composeChainReading } from './compose/chain-reading.ts';
import { composeCommerce } from './compose/commerce.ts';
import { composeContest } from './compose/contest.ts';
import { composeDoor, sharedWhileUnderWay } from './compose/door.ts';
import type { Frame, StartFrame } from './compose/frame.ts';
import { ALL_INDEXES } from './compose/indexes.ts';
import { composeJobs, type Jobs } from './compose/jobs.ts';
import { liveMarket, liveReading, simulatedOnRealChain } from './compose/market.ts';
import { composeMcp } from './compose/mcp.ts';
import { composePurchases } from './compose/purchases.ts';
import { composePush, type Push } from './compose/push.ts';
import { openReports } from './compose/reports.ts';
import { composeSelfTestDesk, composeSelfTests } from './compose/self-tests.ts';
import { paperVenue, polymarketNeedsLive, polymarketVenues, quotedMarkets } from './compose/venues.ts';
import { composeWebhookDelivery, type WebhookDelivery } from './compose/webhook-delivery.ts';
import { composeWebhooks } from './compose/webhooks.ts';
import { composeWebSocket, type WebSocketService } from './compose/websocket.ts';
import type { Config } from './config.ts';
import type { OracleError } from './errors.ts';
import { dayOf, instantOf } from './forecast/day.ts';
import { HORIZONS } from './forecast/model.ts';
import type { AppOptions } from './http/app.ts';
import type { HttpParts, VenueMarket } from './http/parts.ts';
import { type Infrastructure, openInfrastructure } from './local/infrastructure.ts';
import { hasDaysToReplay, type ReplayRange, replayRange, replayUnfinished } from './local/replay.ts';
import { requireSameHistory } from './local/same-history.ts';
import type { Log } from './log.ts';
import { createCache } from './market/cache.ts';
import type { LiveMarket } from './market/live/live-market.ts';
import { parseProviderUrls } from './market/live/provider-urls.ts';
import { isLiveReachable } from './market/live/reachable.ts';
import { createMarket } from './market/market.ts';
import { chooseFeed } from './market/open.ts';
import { connectMongo, type Database, ensureIndexes } from './mongo.ts';
import { Forecaster } from './pipeline/forecaster.ts';
import type { PipelineParts } from './pipeline/parts.ts';
import { readiness } from './pipeline/readiness.ts';
import type { Schedule } from './pipeline/schedule.ts';
import { statusOf } from './pipeline/status.ts';
import { StepRuns } from './pipeline/step-runs.ts';
import type { EventViewOptions } from './push/events/view.ts';
import { bringWebhooksUpToDate } from './push/webhooks/bring-up-to-date.ts';
import { ModelStore } from './record/models.ts';
import { ForecastRecord } from './record/record.ts';
import { requireSameSalts } from './record/same-salts.ts';
import { StatisticsDesk } from './record/statistics/desk.ts';
import { type Setup, setupText } from './setup.ts';
import type { Shutdown } from './shutdown.ts';
import type { Venue } from './wager/venue.ts';
import { WagerSwitch } from './wager/wager-switch.ts';
import { WagerBook } from './wager/wagers.ts';

/** What the doors, the schedule and the commands stand on. */
export interface Service {
  config: Config;
  log: Log;
  shutdown: Shutdown;
  infrastructure: Infrastructure;
  database: Database;
  pipeline: PipelineParts;
  /** The event log. */
  push: Push;
  webhookDelivery: WebhookDelivery;
  websocket: WebSocketService;
  /** Where replayed days wager: no other venue has quotes of the past. */
  replayVenue: Venue;
  http: HttpParts;
  /** What stands before the routes of HTTP. */
  door: AppOptions;
  /** Other protocols behind the same socket. */
  doors: readonly Door[];
  /** What collects live data; null where the feed asks nobody. */
  live: LiveMarket | null;
  /** Takes on jobs of agent commerce until the process stops; null where none are taken. */
  watchJobs: Jobs['watch'];
  /** Range for a first replay; null where there is none. */
  range: ReplayRange | null;
  feedReason: string | null;
  /** Points the on-chain identity to this service's address. A transaction of now: not before a replay of the past. */
  announce(): Promise<void>;
  /** Deletes what has expired. */
  purge(now: Date): Promise<void>;
  /** What is left of the start. */
  setup: Setup;
  /** The running jobs, once they run. */
  state: { schedule: Schedule | null };
}
const now = () => new Date();

/** How long one request waits for its payment to be confirmed. */
const SETTLEMENT_MS = 25_000;
/** How long one look at a job waits for its transaction: the next one goes on. */
const JOB_MS = 20_000;

/**
 * Constructs every part, from the data up: feed, database and chain, wallets, record, wagers, pipeline, doors. `address` is where
 * callers reach this process; null for one that serves nobody and speaks under the address that is registered.
 */
export async function assemble({ config, log, shutdown, setup }: StartFrame, address: string | null): Promise<Service> {
  const real = config.chainMode === 'real';
  if (real && config.FEEDS === 'simulated') throw simulatedOnRealChain();
  const urls = parseProviderUrls(config.PROVIDER_URLS ?? '');
  setup.at('looking for market data');
  // A record on a real chain is for good: live data that cannot be reached is waited for there, never replaced.
  const choice = await chooseFeed(real && config.FEEDS === 'auto' ? 'live' : config.FEEDS, {
    seed: config.SIMULATION_SEED,
    isLiveReachable: () => isLiveReachable(urls),
  });
  const range = real ? null : replayRange(choice.coverage, dayOf(Date.now()), config.REPLAY_DAYS);

  const infrastructure = await openInfrastructure({
    config,
    shutdown,
    setup,
    genesisMs: range === null ? undefined : instantOf(range.from),
    onFailure: (error) => failFromOutside({ config, log, shutdown }, error),
  });
  const { contracts, keys, saltSecret } = infrastructure;
  setup.at('connecting to database and chain');
  const database = await connectMongo(infrastructure.mongodbUri);
  shutdown.onStop('database connection', () => database.close());
  const { db } = database;
  await ensureIndexes(db, ALL_INDEXES);

  const chain = await createChain({
    rpcUrl: infrastructure.rpcUrl,
    chainId: config.CHAIN_ID,
    confirmations: config.CONFIRMATIONS ?? (real ? 5 : 1),
    pollingIntervalMs: real ? 1_000 : 2,
    addresses: contracts,
  });
  const journal = await openJournal(db);
  const wallet = (role: WalletRole, key: Hex, timeoutMs?: number) =>
    createWallet({ chain, journal, role, account: privateKeyToAccount(key), timeoutMs, signal: shutdown.signal });
  const attesterWallet = wallet('attester', keys.attester);
  const reporterWallet = wallet('reporter', keys.reporter);

  const record = new ForecastRecord({ db, saltSecret, horizons: HORIZONS });
  const { localChain } = infrastructure;
  const replayAhead = localChain !== null && (await hasDaysToReplay(db, record, range));
  // A restored chain is at the wall clock: behind a block of now nothing of the past could be dated.
  if (replayAhead && localChain.restored) await localChain.setTime(await localChain.lastBlockMs());
  const { feed, reason: feedReason } = choice.settle(await record.source());
  const live = feed === null && config.ROLE !== 'api' ? await liveMarket({ config, log, shutdown }, db) : null;
  const market = feed === null ? liveReading(db, live) : createMarket(feed);
  if (config.WAGERS === 'polymarket' && market.kind !== 'live') throw polymarketNeedsLive(market.source);
  await requireSameHistory({ record, market, chain, journal, attester: attesterWallet.address, local: !real });
  await requireSameSalts(record, saltSecret, real ? undefined : join(config.DATA_DIR, 'keys.json'));
  const publicUrl = config.PUBLIC_URL ?? address;
  setup.at('registering the agent');
  const agentUri = urlAt(publicUrl ?? `http://127.0.0.1:${config.PORT}`, REGISTRATION_PATH);
  const agent = { identity: await ensureIdentity(chain, { agentUri, wallet: attesterWallet }) };

  setup.at('assembling the service');

  const models = new ModelStore(db);
  const wagers = new WagerBook(db);
  const paper = paperVenue(db, config, record, market);
  const polymarket = polymarketVenues({ config, log, shutdown }, db, market);
  const venue = config.WAGERS === 'polymarket' ? polymarket[0] : paper;
  const push = composePush({ log, shutdown }, { db, record, wagers, now });
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
    selfTests: composeSelfTests(
      { shutdown },
      { db, chainId: chain.chainId, wallets: [attesterWallet.address, reporterWallet.address], version: packageJson.version, now },
    ),
    runs: new StepRuns(db, log),
    emit: () => push.publish(),
    log,
  };

  const { encryptionSecret } = infrastructure;
  const { agentId } = agent.identity;
  const access = await composeAccess({ db, chain, encryptionSecret, agentId, publicUrl: pipeline.publicUrl(), now });
  const left = () => setupText(setup);
  const state: Service['state'] = { schedule: null };
  const { administration, ...operator } = composeAdministration({ config, db, pipeline, state, setup: left, log, now });
  const quoted = createCache<VenueMarket[]>('venue-markets', 1);
  const ready = { chain, market, pingDatabase: () => database.ping(), setup: left, now };
  const answers: SkillParts = {
    publicUrl: pipeline.publicUrl(),
    record,
    wagers,
    venueName: venue.name,
    sameBook: venue.sameBook,
    market,
    models,
    statistics: new StatisticsDesk({ record, models, wagers, venueName: venue.name, sameBook: venue.sameBook, now }),
    // Somebody else's strikes are in the market's snapshots.
    venueMarkets: async () => (venue === paper ? quoted.get(Math.floor(Date.now() / 60_000), () => quotedMarkets(paper)) : []),
    chainId: chain.chainId,
    attestations: createAttestationReader(chain),
    attesterAddress: attesterWallet.address,
    addresses: chain.addresses,
    explorerUrl: real ? 'https://base.easscan.org' : null,
    saltSecret,
    viewFor: (caller) => ({ caller, policy: config.REVEAL, now: now(), saltSecret }),
    now,
  };
  const carryOut = createCarryOut(answers);
  const commerce = await composeCommerce(
    { config, log, shutdown },
    {
      ...{ db, chain, now, publicUrl: pipeline.publicUrl() },
      // Whoever pays waits for it, and asks again.
      facilitator: keys.facilitator === null ? null : wallet('facilitator', keys.facilitator, SETTLEMENT_MS),
      provider: privateKeyToAccount(keys.provider),
    },
  );
  const jobs = await composeJobs(
    { config, log, shutdown },
    { db, chain, wallet: wallet('provider', keys.provider, JOB_MS), ledger: commerce.ledger, answers, now },
  );
  const paidCalls = createPaidCalls({ sales: commerce.sales, carryOut, at: (path) => urlAt(answers.publicUrl, path) });
  const cardSource: CardSource = {
    publicUrl: pipeline.publicUrl(),
    version: packageJson.version,
    chainId: chain.chainId,
    registry: chain.addresses.identityRegistry,
    agentId,
    payments: { payee: commerce.till.payee, asset: commerce.till.asset, receiptSigner: commerce.receiptSigner },
  };
  const card = await composeCard({ db, encryptionSecret, source: cardSource, now });
  const a2a = composeA2a({ config, log, shutdown }, { db, encryptionSecret, source: cardSource, carryOut, paidCalls, now });
  const eventView: EventViewOptions = { saltSecret, policy: config.REVEAL, publicUrl: answers.publicUrl, chainId: chain.chainId };
  const websocket = composeWebSocket({ config, log }, { db, access, push, view: eventView, loopback: !real, now });
  const http: HttpParts = {
    ...answers,
    carryOut,
    agentTasks: a2a.tasks,
    about: composeAbout({ config, chain, agentId, reporter: reporterWallet.address, now }),
    chainReading: composeChainReading({ config, rpcUrl: infrastructure.rpcUrl, publicUrl: answers.publicUrl }),
    access,
    card,
    administration,
    contest: composeContest({ db, chain, record, models, market, agentId, now, log }),
    version: packageJson.version,
    setup: () => setup.current,
    reports: pipeline.reports,
    selfTests: composeSelfTestDesk({ ...pipeline, setup: left }),
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
    commerce: { ...commerce, closed: { ...commerce.closed, ...jobs.closed } },
    jobs: jobs.desk,
    purchases: composePurchases({ config, log, shutdown }, { db, chain, commerce, answers, now }),
    tickets: websocket.tickets,
    webhooks: composeWebhooks({ db, events: push.events, encryptionSecret, allowLocal: config.PUSH_LOCAL_TARGETS === 'allow', now }),
  };
  await bringWebhooksUpToDate(db, push.events);
  const webhookDelivery = composeWebhookDelivery(
    { config, log, shutdown },
    { db, push, encryptionSecret, view: eventView, tierOf: (wallet) => access.tierOf(wallet), now },
  );
  const purge = async (at: Date) => {
    await Promise.all([
      access.purge(at),
      a2a.purge(at),
      commerce.sales.purge(at),
      push.events.purge(at),
      webhookDelivery.purge(at),
      websocket.purge(at),
    ]);
  };
  const doors: Door[] = [...a2a.doors, composeMcp({ config, log, shutdown }, answers, { carryOut, paidCalls })];
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
    push,
    webhookDelivery,
    websocket,
    replayVenue: paper,
    http,
    door,
    doors,
    live,
    watchJobs: jobs.watch,
    range,
    feedReason,
    setup,
    state,
    announce,
    purge,
  };
}

function failFromOutside({ log, shutdown }: Frame, error: OracleError): void {
  log.error({ err: error }, 'a part of the service ended by itself');
  void shutdown.stop(error.message).then(() => process.exit(1));
}
