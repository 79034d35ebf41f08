import { join } from 'node:path';
import type { Db } from 'mongodb';
import type { Address } from 'viem';
import { REGISTRATION_PATH } from '../../agent-card/documents.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { createPaidCalls, createSkillRunner } from '../../skills/runner.ts';
import type { ProtocolAdapter } from '../adapter.ts';
import type { AccessSource } from '../auth/api-keys.ts';
import { type Chain, readChainHealth, readConfirmedBlockNumber, readPendingBlockTime } from '../chain/client.ts';
import { PUBLIC_ROLES, readWalletFunds, type WalletFunds } from '../chain/contracts.ts';
import { createAttestationReader } from '../chain/eas/schemas.ts';
import { ensureIdentity, findRegistrationBlock, readReputation, updateAgentUri } from '../chain/erc8004.ts';
import { createReadOnlyRpc, type RpcAccess } from '../chain/rpc-proxy.ts';
import { type Commerce, checkPayments, type PaymentCheck, readSettlementCost } from '../commerce/commerce.ts';
import { composeDocument } from '../commerce/documents/track-record.ts';
import { buildAgentKey, type ClientFeedback, ClientFeedbackStore, createClientFeedback } from '../commerce/feedback.ts';
import type { Ledger } from '../commerce/ledger.ts';
import { PurchaseService, PurchaseStore } from '../commerce/purchases.ts';
import type { PaymentInterface } from '../commerce/x402/claims.ts';
import { allowsLocalWebhooks, loadConfig } from '../config.ts';
import { computeReplayRange, hasDaysToReplay } from '../dev/replay.ts';
import { getErrorMessage, OracleError } from '../errors.ts';
import { toDay, toInstantMs } from '../forecast/day.ts';
import { HORIZONS } from '../forecast/model.ts';
import { type AppOptions, createRequestSummary, type EndedRequest } from '../http/request.ts';
import { RPC_PATH } from '../http/routes/rpc.ts';
import type { Services } from '../http/services.ts';
import { isLiveReachable } from '../market/live/live-market.ts';
import { parseProviderUrls } from '../market/live/providers.ts';
import { chooseFeed } from '../market/market.ts';
import { countDeliveryAttempt, countMcpMessage, countPayment, createWorkCounts, WATCHED_MESSAGES } from '../ops/metric-definitions.ts';
import type { Metrics } from '../ops/metrics.ts';
import { composeMetrics } from '../ops/metrics.ts';
import type { PipelineContext } from '../pipeline/forecaster.ts';
import type { Schedule } from '../pipeline/schedule.ts';
import { checkReadiness, readServiceStatus } from '../pipeline/status.ts';
import { requireNoOpenRestore } from '../platform/backup.ts';
import { createCache } from '../platform/concurrency.ts';
import { inDataDir } from '../platform/data-dir.ts';
import { createLog, createLogCounts } from '../platform/log.ts';
import { connectMongo, type Database, ensureIndexes, readDatabaseTime } from '../platform/mongo.ts';
import { createStartupProgress, formatStartupStep, writeNotice } from '../platform/progress.ts';
import { joinUrl } from '../platform/service-client.ts';
import { createShutdown, stopOnSignals } from '../platform/shutdown.ts';
import { createTrustedTime, type TrustedTime } from '../platform/time.ts';
import { connectTracer, flushSpans } from '../platform/tracing.ts';
import { ChampionLog } from '../record/challenge.ts';
import { CrowdFigures } from '../record/crowd.ts';
import { DatasetFileStore, DatasetService } from '../record/dataset.ts';
import { RecordFigures } from '../record/figures.ts';
import { ForecastRecord, requireSameSalts } from '../record/forecasts.ts';
import { ModelStore } from '../record/model-card.ts';
import { BASE_CHAIN_ID, type Config, listSecretValues } from '../settings.ts';
import { hasExchangeOrders } from '../wager/polymarket.ts';
import type { Venue } from '../wager/venue.ts';
import { WagerBook } from '../wager/wagers.ts';
import { type ComposedChain, composeChain, composeSignerHealth } from './chain.ts';
import { composeCommerce, composeJobs, createFacilitatorEndpoint, getSettlementPricing, type Jobs } from './commerce.ts';
import { composeMarket, createOwnMarkets, getEasExplorerUrl, type ServiceCore } from './core.ts';
import {
  composeEvents,
  composeWebhookDelivery,
  composeWebhooks,
  composeWebSocket,
  type EventPublishing,
  type WebhookDelivery,
  type WebSocketService,
} from './events.ts';
import { adoptAttestations, type ForeignAttestations, requireSameHistory, restoreLostTransactions } from './history.ts';
import { ALL_INDEXES } from './indexes.ts';
import {
  createStartRetry,
  type Infrastructure,
  openInfrastructure,
  type ProcessContext,
  type RetryPart,
  type StartupContext,
} from './infrastructure.ts';
import { composeContest, composePipeline, composeSelfTestService, composeVenues } from './pipeline.ts';
import { purgeExpired } from './retention.ts';
import { migrateSchema } from './schema.ts';
import {
  buildCardSource,
  composeA2a,
  composeAbout,
  composeAdministration,
  composeApplications,
  composeAppOptions,
  composeAuth,
  composeCard,
  composeDemo,
  composeMcp,
  composeOAuth,
  shareWhileInFlight,
} from './transports.ts';

const { version } = packageJson;

/** @param address URL of this process; null for a command, which uses the registered one */
export async function assembleService(context: StartupContext, address: string | null): Promise<Service> {
  const core = await inDataDir(context.config.DATA_DIR, () => openCore(context, address));
  const retry = createStartRetry(context, address !== null);
  const { config, shutdown, progress, chain, wallets, agentId, publicUrl, time, now } = core;
  progress.startStep('assembling the service');
  const getStartupStep = () => formatStartupStep(progress);
  const state: Service['state'] = { schedule: null };

  const push = composeEvents(core);
  const pipeline = composePipeline(core, push, version);
  const contest = composeContest(core);

  const runSkill = createSkillRunner(core);
  const workCounts = createWorkCounts();
  const commerce = await composeCommerce(core, (over, step) => countPayment(workCounts, over, step));
  const { ledger } = commerce;
  const jobs = await composeJobs(core, ledger);
  const createCallsOver = (over: PaymentInterface) =>
    createPaidCalls({ sales: commerce.sales, runSkill, toUrl: (path) => joinUrl(publicUrl, path), over });

  const applications = composeApplications(core);
  const access = await retry(() => composeAuth(core, applications?.tokens));
  const cardSource = buildCardSource(core, commerce, version);
  const card = await retry(() => composeCard(core, cardSource));
  const a2a = await composeA2a(core, cardSource, { runSkill, paidCalls: createCallsOver('a2a') });
  const mcp = await composeMcp(core, {
    runSkill,
    paidCalls: createCallsOver('mcp'),
    access,
    hasOAuth: applications !== null,
    observeMessage: (message) => countMcpMessage(workCounts, message),
  });

  const view = { saltSecret: core.saltSecret, policy: config.REVEAL, publicUrl, chainId: chain.chainId };
  const websocket = composeWebSocket(core, { access, push, view });
  const webhookDelivery = composeWebhookDelivery(core, {
    ...core,
    push,
    view,
    tierOf: (wallet) => access.getWalletTier(wallet),
    observeAttempt: (delivery, attempt) => countDeliveryAttempt(workCounts, delivery, attempt),
  });

  const { administration, ...operator } = composeAdministration(pipeline, state, getStartupStep);
  const options = composeAppOptions(core, { ...operator, identify: (authorization) => access.identify(authorization) });

  const checkSigners = composeSignerHealth(core.signers, now);
  const readiness = shareWhileInFlight(() => checkReadiness(core, getStartupStep, checkSigners));
  const walletFunds = composeWalletFunds(core);
  const payments = composePaymentHealth(core, commerce.merchant.payee);
  const readSettlement = composeSettlementCost(core);
  const schedule = () => state.schedule;
  const status = async () => {
    const reading = readServiceStatus(pipeline, { version, feedReason: core.feedReason, readiness, walletFunds, payments, schedule });
    const [read, settlement] = await Promise.all([reading, readSettlement()]);
    return { ...read, settlement };
  };
  const { loadShedder } = options;
  const selfTests = composeSelfTestService(pipeline, getStartupStep);
  const metrics = await composeMetrics(core, { logCounts: core.logCounts, workCounts, loadShedder, selfTests, ledger, status });
  // A demonstration talks to the reader of a terminal.
  const summary = createRequestSummary(core.log, core.config.chainMode === 'real' ? 'info' : 'debug');
  shutdown.onStop('request summary', summary.flush);
  const observeRequest = (ended: EndedRequest) => {
    summary.observe(ended);
    metrics?.observeRequest(ended);
  };
  const appOptions = { ...options, observeRequest };
  const demo = composeDemo(core, access);
  const http: Services = {
    ...core,
    version,
    contact: config.CONTACT,
    about: composeAbout(core),
    access,
    accessSources: [access.apiKeys, ...(applications === null ? [] : [applications.access])],
    hasOAuth: applications !== null,
    administration,
    agentTasks: a2a.tasks,
    card,
    clientFeedback: composeClientFeedback(core, ledger),
    chainReading: composePublicRpc({ ...core.infrastructure, ...core }),
    commerce: { ...commerce, closed: { ...commerce.closed, ...jobs.closedChannels } },
    contest,
    demo,
    isStopping: () => shutdown.draining.aborted,
    jobs: jobs.service,
    paidCalls: createCallsOver('rest'),
    purchases: composePurchases(core, commerce),
    readiness,
    reports: pipeline.reports,
    reputation: () => readReputation(chain, agentId, wallets.reporter.address),
    runSkill,
    selfTests,
    setup: () => progress.current,
    status,
    tickets: websocket.tickets,
    webhooks: composeWebhooks({ ...core, events: push.events, allowLocal: allowsLocalWebhooks(config), publicUrl }),
  };

  const oauth = applications === null ? [] : [composeOAuth(core, { ...applications, access, hasDemoWallets: demo !== null })];

  return {
    ...core,
    state,
    pipeline,
    replayVenue: core.paper,
    push,
    webhookDelivery,
    websocket,
    watchJobs: jobs.watch,
    http,
    metrics,
    appOptions,
    adapters: [...a2a.adapters, mcp, ...oauth],
    applications: applications?.access ?? null,
    async purge() {
      // A clock that runs ahead would delete documents that have not expired.
      if ((await time.findDisagreement()) !== null) return;
      const at = await readDatabaseTime(core.db);
      const logs = [core.record.known.changes, push.events];
      await Promise.all([purgeExpired(core.db, at), access.keys.purge(), ...logs.map((log) => log.purge(at))]);
    },
  };
}

/** Asked at most once a minute. */
function composePaymentHealth({ config, chain, wallets, now }: ServiceCore, payee: Address) {
  const facilitator = createFacilitatorEndpoint(config, now) ?? { address: wallets.facilitator!.address };
  const cache = createCache<PaymentCheck[]>('payment-health', 1);
  return () => cache.get(Math.floor(now().getTime() / 60_000), () => checkPayments({ chain, payee, facilitator }));
}

/** Read at most once a minute. */
function composeSettlementCost({ config, chain, now }: ServiceCore) {
  const cache = createCache<SettlementCost>('settlement-cost', 1);
  return () => cache.get(Math.floor(now().getTime() / 60_000), () => readSettlementCost(chain, getSettlementPricing(config)));
}

/** What one settlement costs now, beside each x402 price. Amounts in millionths of a dollar; null while the cost is not known. */
type SettlementCost = Awaited<ReturnType<typeof readSettlementCost>>;

function composePurchases(core: ServiceCore, commerce: Commerce): PurchaseService {
  const { agentCommerce } = core.chain.addresses;
  return new PurchaseService({
    ...core,
    ...commerce,
    store: new PurchaseStore(core.db),
    compose: (offering, at) => composeDocument(core, 'purchase', offering, at),
    signatures: commerce.purchaseSignatures,
    excludedBuyers: agentCommerce === null ? [] : [agentCommerce],
    signal: core.shutdown.signal,
  });
}

/** About 30 days on Base. */
const LOOK_BACK_BLOCKS = 1_296_000;

function composeClientFeedback({ agentId, chain, db, journal, wallets }: ServiceCore, ledger: Ledger): ClientFeedback {
  return createClientFeedback({
    chain,
    agentId,
    agent: buildAgentKey(chain, agentId),
    reporter: wallets.reporter.address,
    store: new ClientFeedbackStore(db),
    ledger,
    // Another wallet or database may have registered the agent.
    findFirstBlock: async () =>
      (await findRegistrationBlock(chain, journal)) ?? Math.max(0, Number(await readConfirmedBlockNumber(chain)) - LOOK_BACK_BLOCKS),
  });
}

export function composeWalletFunds({ db, chain, wallets, now }: Pick<ComposedChain, 'chain' | 'wallets'> & { db: Db; now(): Date }) {
  const roles = PUBLIC_ROLES.map((role) => ({ role, address: wallets[role].address }));
  const cache = createCache<WalletFunds[]>('wallet-funds', 1);
  return () => cache.get(Math.floor(now().getTime() / 60_000), () => readWalletFunds({ db, chain }, roles, now()));
}

const BASE_RPC_URL = 'https://mainnet.base.org';

/** Chain endpoint for verifiers. `CHAIN_RPC_URL` is never published: it may contain an API key. */
export function composePublicRpc(
  options: Pick<Infrastructure, 'rpcUrl' | 'contracts'> & {
    config: Pick<Config, 'chainMode' | 'CHAIN_ID' | 'PUBLIC_RPC_URL'>;
    publicUrl: string;
  },
): RpcAccess {
  const { config, rpcUrl, publicUrl } = options;
  const contracts = Object.values(options.contracts).filter((address) => address !== null);
  if (config.chainMode !== 'real') return { rpc: createReadOnlyRpc({ rpcUrl, contracts }), rpcUrl: joinUrl(publicUrl, RPC_PATH) };
  return { rpc: null, rpcUrl: config.PUBLIC_RPC_URL ?? (config.CHAIN_ID === BASE_CHAIN_ID ? BASE_RPC_URL : null) };
}

const now = () => new Date();

async function openCore(context: StartupContext, address: string | null): Promise<ServiceCore> {
  const { config, log, shutdown, progress } = context;
  const isRealChain = config.chainMode === 'real';
  const choice = await chooseMarketData(context);
  const range = isRealChain ? null : computeReplayRange(choice.coverage, toDay(Date.now()), config.REPLAY_DAYS);
  const opened = await openInfrastructure({
    ...context,
    genesisMs: range === null ? undefined : toInstantMs(range.from),
    onFailure: (error) => {
      log.error({ err: error }, 'a part of the service ended by itself');
      process.stderr.write(formatStartupError(error));
      void shutdown.stop(error.message).then(() => process.exit(1));
    },
  });

  progress.startStep('connecting to database and chain');
  const retry = createStartRetry(context, address !== null);
  const database = await retry(() => connectMongo(opened.mongodbUri));
  shutdown.onStop('database connection', () => database.close());
  const { db } = database;
  await retry(() => requireNoOpenRestore(db));
  await retry(() => migrateSchema(db, { log, needsBackup: isRealChain, mayMigrate: address !== null }));
  await retry(() => ensureIndexes(db, ALL_INDEXES));
  const { infrastructure, ...composed } = await openChain(context, db, opened, retry);
  const { chain, journal, signers, wallets } = composed;
  const { saltSecret, encryptionSecret, localChain } = infrastructure;
  const record = new ForecastRecord({ db, saltSecret, horizons: HORIZONS });
  const models = new ModelStore(db);
  const hasReplayAhead = localChain !== null && (await hasDaysToReplay({ db, record, range, chain: localChain }));
  // A restored chain has the wall clock's time: behind a block of the present, nothing can be dated to the past.
  if (hasReplayAhead && localChain.restored) await localChain.setNextBlockTime(await localChain.readLastBlockMs());
  const { feed, reason: feedReason } = choice.selectFeed(await record.findSource());
  const time = composeTrustedTime(context, { chain, database, now });
  const { market, live } = await composeMarket(context, db, feed, time);
  const { address: attester } = wallets.attester;
  const adopt = async (found: ForeignAttestations) => {
    const isAdopted = await adoptAttestations({ chain, journal, attester, record, saltSecret }, found);
    const counts = { forecasts: found.predictions.length, outcomes: found.resolutions.length };
    if (isAdopted) log.warn(counts, 'the database is older than the chain: what it lacks was read back');
    return isAdopted;
  };
  await requireSameHistory({ record, market, chain, journal, attester, isLocalChain: !isRealChain, adopt, dataDir: config.DATA_DIR });
  await requireSameSalts(record, saltSecret, isRealChain ? undefined : join(config.DATA_DIR, 'keys.json'));

  await retry(() => record.known.load());
  if (isRealChain && (await record.findLastDay()) === null) {
    // Loaded once in the life of a record.
    const { requireReadyForFirstStart } = await import('../ops/doctor.ts');
    const roles = async () =>
      Object.values(signers).flatMap((signer) => (signer === null ? [] : [{ role: signer.role, address: signer.account.address }]));
    const parts = { database: async () => database, chain: async () => chain, roles };
    await requireReadyForFirstStart({ config, target: infrastructure, ...parts, log, now });
  }

  progress.startStep('registering the agent');
  const knownUrl = config.PUBLIC_URL ?? address;
  const agentUri = joinUrl(knownUrl ?? `http://127.0.0.1:${config.PORT}`, REGISTRATION_PATH);
  let identity = await retry(() => ensureIdentity(chain, { agentUri, wallet: wallets.attester }));
  const base = {
    ...context,
    ...composed,
    infrastructure,
    database,
    db,
    market,
    live,
    saltSecret,
    encryptionSecret,
    record,
    models,
    figures: new RecordFigures(record.known, models),
    champions: new ChampionLog(db),
    dataset: new DatasetService(record.known, models, new DatasetFileStore(db, now), now),
    wagers: new WagerBook(db, record.known),
    time,
    now,
    agentId: identity.agentId,
    publicUrl: knownUrl ?? identity.agentUri.replace(REGISTRATION_PATH, ''),
    identity: () => identity,
    async announce() {
      identity = await updateAgentUri(chain, wallets.attester, identity, agentUri);
    },
    range,
    feedReason,
    attestations: createAttestationReader(chain),
    explorerUrl: isRealChain ? getEasExplorerUrl(chain.chainId) : null,
  };
  const venues = composeVenues(base);
  return {
    ...base,
    ...venues,
    crowd: new CrowdFigures(record.known, venues.venue),
    venueMarkets: createOwnMarkets(venues, now),
    viewFor: (caller) => ({ caller, policy: config.REVEAL, now: now(), saltSecret }),
  };
}

export function composeTrustedTime(
  { config, log, shutdown }: ProcessContext,
  { chain, database, now }: { chain: Chain; database: Pick<Database, 'now'>; now(): Date },
): TrustedTime {
  const isLocal = config.chainMode !== 'real';
  return createTrustedTime({
    now,
    databaseNow: () => database.now(),
    // A local chain makes blocks only for transactions; its pending block carries the time of the chain's own clock.
    newestBlockAt: async () => (isLocal ? readPendingBlockTime(chain) : (await readChainHealth(chain)).at),
    signal: shutdown.signal,
    onChange: (reason) => {
      if (reason === null) log.info('the clocks of process and database agree again');
      else log.error({ reason }, 'the clocks of process and database disagree');
    },
  });
}

/**
 * Continues a local chain whose processes were killed. A demonstration whose chain lacks what cannot be sent again begins anew; what else there
 * may be in a database, such as the record of another chain, is left as it is. @throws OracleError DATA_DIR_DAMAGED, as `composeChain`
 */
async function openChain(
  context: StartupContext,
  db: Db,
  infrastructure: Infrastructure,
  retry: RetryPart,
): Promise<ComposedChain & { infrastructure: Infrastructure }> {
  const composed = await retry(() => composeChain(context, db, infrastructure));
  const { localChain, beginAnew } = infrastructure;
  const lost = localChain === null ? null : await retry(() => restoreLostTransactions({ ...composed, localChain }));
  if (lost === null) return { ...composed, infrastructure };
  if (beginAnew === null || !(await holdsDemonstrationAlone(db, composed))) throw lost;
  const { config, log, progress } = context;
  log.warn({ err: lost }, 'the local chain is behind the database');
  writeNotice(
    `The chain of ${config.DATA_DIR} was killed before it had saved what the record needs: the demonstration begins anew, with the same keys.`,
  );
  progress.startStep('beginning the demonstration anew');
  // The chain first: until the database is empty, the next start after a kill finds the same and begins anew too.
  const begun = await beginAnew();
  await db.dropDatabase();
  await retry(() => ensureIndexes(db, ALL_INDEXES));
  return openChain(context, db, begun, retry);
}

/** Whether a database has transactions of this chain and of keys of this folder alone, and no order that was placed for money. */
async function holdsDemonstrationAlone(db: Db, { journal, chain, signers }: ComposedChain): Promise<boolean> {
  const own = Object.values(signers).flatMap((signer) => signer?.account.address ?? []);
  return !(await journal.hasOthers(chain.chainId, own)) && !(await hasExchangeOrders(db));
}

/** A record on a real chain is permanent: unreachable live data is waited for there, never replaced. */
async function chooseMarketData({ config, progress }: StartupContext): ReturnType<typeof chooseFeed> {
  const isRealChain = config.chainMode === 'real';
  if (isRealChain && config.FEEDS === 'simulated') throw simulatedOnRealChainError();
  progress.startStep('looking for market data');
  return chooseFeed(isRealChain && config.FEEDS === 'auto' ? 'live' : config.FEEDS, {
    seed: config.SIMULATION_SEED,
    isLiveReachable: () => isLiveReachable(parseProviderUrls(config.PROVIDER_URLS ?? '')),
  });
}

/** A record on a real chain is permanent: no simulated data enters it. */
function simulatedOnRealChainError(): OracleError {
  return new OracleError('CONFIG_INVALID', 'Setting FEEDS: simulated data is refused on a real chain', {
    field: 'FEEDS',
    suggestedAction: 'Set FEEDS to real data, or unset CHAIN_RPC_URL to try the service on a local chain.',
  });
}

/** Runs work in a process context. An error is written to standard error by `formatError` and ends the process with `failureCode`. */
export async function runProcess(
  work: (context: StartupContext) => Promise<void>,
  failureCode = 1,
  formatError: (error: unknown) => string = formatStartupError,
): Promise<void> {
  let context: StartupContext | undefined;
  try {
    await connectTracer();
    context = openStartupContext();
    await work(context);
  } catch (error) {
    // A signal ends the process itself: errors of the work that its stop interrupts are not reported.
    if (context?.shutdown.signal.aborted) return;
    process.stderr.write(formatError(error));
    await context?.shutdown.stop('the start failed');
    process.exit(failureCode);
  }
}

function openStartupContext(): StartupContext {
  const config = loadConfig();
  const logCounts = createLogCounts(WATCHED_MESSAGES);
  const log = createLog({ level: config.LOG_LEVEL, secrets: listSecretValues(config), counts: logCounts });
  const shutdown = createShutdown({ log });
  // The first that is registered is the last that stops.
  shutdown.onStop('traces', flushSpans);
  stopOnSignals(shutdown, (signal) => {
    // A demonstration talks to the reader of a terminal, a deployment to a log.
    if (config.chainMode === 'real') log.info({ signal }, 'stopping');
    else writeNotice(`Service stopping on ${signal}: the next start continues; a second signal ends it at once.`);
  });
  return { config, log, logCounts, shutdown, progress: createStartupProgress() };
}

function formatStartupError(error: unknown): string {
  if (!(error instanceof OracleError)) return `${error instanceof Error ? error.stack : String(error)}\n`;
  const action = error.suggestedAction === undefined ? '' : `\n  -> ${error.suggestedAction}`;
  const hasLibraryMessage = ['INTERNAL', 'CHAIN_REVERTED', 'CHAIN_UNREACHABLE'].includes(error.code);
  const cause = hasLibraryMessage && error.cause !== undefined ? `\n  ${getErrorMessage(error.cause)}` : '';
  return `\n${error.code}: ${error.message}${cause}${action}\n`;
}

export interface Service extends ServiceCore {
  pipeline: PipelineContext;
  push: EventPublishing;
  webhookDelivery: WebhookDelivery;
  websocket: WebSocketService;
  replayVenue: Venue;
  http: Services;
  /** Null unless they are served. */
  metrics: Metrics | null;
  appOptions: AppOptions;
  adapters: readonly ProtocolAdapter[];
  /** Applications that a wallet has allowed by OAuth; null where that is off. */
  applications: AccessSource | null;
  /** Processes agent commerce jobs until the process stops; null where none are accepted. */
  watchJobs: Jobs['watch'];
  purge(): Promise<void>;
  state: { schedule: Schedule | null };
}
