import { join } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import type { CardSource } from '../../agent-card/card/card.ts';
import { REGISTRATION_PATH } from '../../agent-card/documents/registration-file.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { createPaidCalls } from '../../skills/paid-call.ts';
import { createSkillRunner } from '../../skills/runner.ts';
import { ensureIdentity, updateAgentUri } from '../chain/erc8004/identity.ts';
import { readReputation } from '../chain/erc8004/reputation.ts';
import { computeReplayRange, hasDaysToReplay } from '../dev/replay.ts';
import type { EventViewOptions } from '../events/event-view.ts';
import { migrateWebhooks } from '../events/webhooks/registry/migrate-webhooks.ts';
import { toDay, toInstantMs } from '../forecast/day.ts';
import { HORIZONS } from '../forecast/model.ts';
import { chooseFeed } from '../market/choose-feed.ts';
import { parseProviderUrls } from '../market/live/providers/provider-urls.ts';
import { isLiveReachable } from '../market/live/reachability.ts';
import { checkReadiness } from '../pipeline/readiness.ts';
import { readServiceStatus } from '../pipeline/status.ts';
import type { OracleError } from '../platform/errors.ts';
import { connectMongo, ensureIndexes } from '../platform/mongo.ts';
import { joinUrl } from '../platform/service-url.ts';
import { formatStartupStep } from '../platform/startup-progress.ts';
import { requireSameSalts } from '../record/commitment/require-same-salts.ts';
import { ForecastRecord } from '../record/forecast-record.ts';
import { ModelStore } from '../record/model-store.ts';
import type { ProtocolAdapter } from '../transports/adapter.ts';
import type { HttpDeps } from '../transports/http/deps.ts';
import { WagerBook } from '../wager/wager-book.ts';
import { composeChain } from './chain/chain.ts';
import { composePublicRpc } from './chain/public-rpc.ts';
import { composeTrustedTime } from './chain/trusted-time.ts';
import { composeWalletFunds } from './chain/wallet-funds.ts';
import { composeCommerce } from './commerce/commerce.ts';
import { composeJobs } from './commerce/jobs.ts';
import { composePurchases } from './commerce/purchases.ts';
import { composeEvents } from './events/event-log.ts';
import { composeWebhookDelivery } from './events/webhook-delivery.ts';
import { composeWebhooks } from './events/webhooks.ts';
import { composeWebSocket } from './events/websocket.ts';
import { ALL_INDEXES } from './indexes.ts';
import { openInfrastructure } from './infrastructure.ts';
import { composeContest } from './pipeline/contest.ts';
import { composeMarket, simulatedOnRealChainError } from './pipeline/market.ts';
import { composePipeline } from './pipeline/pipeline.ts';
import { composeSelfTestService } from './pipeline/self-tests.ts';
import { composeVenues } from './pipeline/venues.ts';
import type { ProcessContext, StartupContext } from './process-context.ts';
import type { Service } from './service.ts';
import { requireSameHistory } from './startup/same-history.ts';
import { composeA2a } from './transports/a2a.ts';
import { composeAbout } from './transports/about.ts';
import { composeAdministration } from './transports/administration.ts';
import { composeCard } from './transports/agent-card.ts';
import { composeAuth } from './transports/auth.ts';
import { composeAppOptions, shareWhileInFlight } from './transports/http-app.ts';
import { composeMcp } from './transports/mcp.ts';
import { composeSkillDeps } from './transports/skills.ts';

const now = () => new Date();

/**
 * Constructs every part, from the data up: feed, database and chain, wallets, record, wagers, pipeline, doors. `address` is where
 * callers reach this process; null for one that serves nobody and speaks under the address that is registered.
 */
export async function assembleService({ config, log, shutdown, progress }: StartupContext, address: string | null): Promise<Service> {
  const isRealChain = config.chainMode === 'real';
  if (isRealChain && config.FEEDS === 'simulated') throw simulatedOnRealChainError();
  const urls = parseProviderUrls(config.PROVIDER_URLS ?? '');
  progress.startStep('looking for market data');
  // A record on a real chain is for good: live data that cannot be reached is waited for there, never replaced.
  const choice = await chooseFeed(isRealChain && config.FEEDS === 'auto' ? 'live' : config.FEEDS, {
    seed: config.SIMULATION_SEED,
    isLiveReachable: () => isLiveReachable(urls),
  });
  const range = isRealChain ? null : computeReplayRange(choice.coverage, toDay(Date.now()), config.REPLAY_DAYS);

  const infrastructure = await openInfrastructure({
    config,
    shutdown,
    progress,
    genesisMs: range === null ? undefined : toInstantMs(range.from),
    onFailure: (error) => stopAfterFailure({ config, log, shutdown }, error),
  });
  const { keys, saltSecret } = infrastructure;
  progress.startStep('connecting to database and chain');
  const database = await connectMongo(infrastructure.mongodbUri);
  shutdown.onStop('database connection', () => database.close());
  const { db } = database;
  await ensureIndexes(db, ALL_INDEXES);

  const { chain, journal, wallets } = await composeChain({ config, shutdown }, db, infrastructure);
  const record = new ForecastRecord({ db, saltSecret, horizons: HORIZONS });
  const { localChain } = infrastructure;
  const hasReplayAhead = localChain !== null && (await hasDaysToReplay(db, record, range));
  // A restored chain is at the wall clock: behind a block of now nothing of the past could be dated.
  if (hasReplayAhead && localChain.restored) await localChain.setNextBlockTime(await localChain.readLastBlockMs());
  const { feed, reason: feedReason } = choice.selectFeed(await record.findSource());
  const { market, live } = await composeMarket({ config, log, shutdown }, db, feed);
  await requireSameHistory({ record, market, chain, journal, attester: wallets.attester.address, isLocalChain: !isRealChain });
  await requireSameSalts(record, saltSecret, isRealChain ? undefined : join(config.DATA_DIR, 'keys.json'));
  const publicUrl = config.PUBLIC_URL ?? address;
  progress.startStep('registering the agent');
  const agentUri = joinUrl(publicUrl ?? `http://127.0.0.1:${config.PORT}`, REGISTRATION_PATH);
  const agent = { identity: await ensureIdentity(chain, { agentUri, wallet: wallets.attester }) };

  progress.startStep('assembling the service');

  const models = new ModelStore(db);
  const wagers = new WagerBook(db);
  const venues = composeVenues({ config, log, shutdown }, { db, record, market });
  const push = composeEvents({ log, shutdown }, { db, record, wagers, now });
  const version = packageJson.version;
  const time = composeTrustedTime({ config, log, shutdown }, { chain, database, now });
  const pipeline = composePipeline(
    { config, log, shutdown },
    {
      ...{ db, chain, wallets, saltSecret, record, models, wagers, market, ...venues, push, version, now, time },
      agentId: () => agent.identity.agentId,
      publicUrl: () => publicUrl ?? agent.identity.agentUri.replace(REGISTRATION_PATH, ''),
    },
  );

  const { encryptionSecret } = infrastructure;
  const { agentId } = agent.identity;
  const access = await composeAuth({ db, chain, encryptionSecret, agentId, publicUrl: pipeline.publicUrl(), now });
  const describeProgress = () => formatStartupStep(progress);
  const state: Service['state'] = { schedule: null };
  const { administration, ...operator } = composeAdministration({
    config,
    db,
    pipeline,
    state,
    getStartupStep: describeProgress,
    log,
    now,
  });
  const walletFunds = composeWalletFunds({ db, chain, wallets, now });
  const readinessDeps = {
    chain,
    localChain: !isRealChain,
    market,
    pingDatabase: () => database.ping(),
    time,
    setup: describeProgress,
    now,
  };
  const skillDeps = composeSkillDeps(
    { config },
    { ...{ chain, wallets, ...venues, saltSecret, record, models, wagers, market, now }, publicUrl: pipeline.publicUrl() },
  );
  const runSkill = createSkillRunner(skillDeps);
  const commerce = await composeCommerce(
    { config, log, shutdown },
    {
      ...{ db, chain, now, publicUrl: pipeline.publicUrl() },
      isReplayAhead: () => progress.replayAhead,
      facilitator: wallets.facilitator,
      provider: privateKeyToAccount(keys.provider),
    },
  );
  const jobs = await composeJobs(
    { config, log, shutdown },
    { db, chain, wallet: wallets.provider, ledger: commerce.ledger, answers: skillDeps, time, now },
  );
  const paidCalls = createPaidCalls({ sales: commerce.sales, runSkill, toUrl: (path) => joinUrl(skillDeps.publicUrl, path) });
  const cardSource: CardSource = {
    publicUrl: pipeline.publicUrl(),
    version,
    chainId: chain.chainId,
    registry: chain.addresses.identityRegistry,
    agentId,
    payments: { payee: commerce.merchant.payee, asset: commerce.merchant.asset, receiptSigner: commerce.receiptSigner },
  };
  const card = await composeCard({ db, encryptionSecret, source: cardSource, now });
  const a2a = composeA2a({ config, log, shutdown }, { db, encryptionSecret, source: cardSource, runSkill, paidCalls, now });
  const eventView: EventViewOptions = { saltSecret, policy: config.REVEAL, publicUrl: skillDeps.publicUrl, chainId: chain.chainId };
  const websocket = composeWebSocket({ log }, { db, access, push, view: eventView, now });
  const http: HttpDeps = {
    ...skillDeps,
    runSkill,
    agentTasks: a2a.tasks,
    about: composeAbout({ config, chain, agentId, reporter: wallets.reporter.address, now }),
    chainReading: composePublicRpc({ config, rpcUrl: infrastructure.rpcUrl, publicUrl: skillDeps.publicUrl }),
    access,
    card,
    administration,
    contest: composeContest({ db, chain, record, models, market, agentId, time, now, log }),
    version,
    setup: () => progress.current,
    reports: pipeline.reports,
    selfTests: composeSelfTestService({ ...pipeline, getStartupStep: describeProgress }),
    identity: () => agent.identity,
    reputation: () => readReputation(chain, agent.identity.agentId, wallets.reporter.address),
    readiness: shareWhileInFlight(() => checkReadiness(readinessDeps)),
    status: () =>
      readServiceStatus({
        version,
        role: config.ROLE,
        feedReason,
        chain,
        localChain: !isRealChain,
        walletFunds,
        pipeline,
        readiness: readinessDeps,
        schedule: () => state.schedule,
        now,
      }),
    commerce: { ...commerce, closed: { ...commerce.closed, ...jobs.closedChannels } },
    jobs: jobs.service,
    purchases: composePurchases({ log, shutdown }, { db, chain, commerce, answers: skillDeps, now }),
    tickets: websocket.tickets,
    webhooks: composeWebhooks({ db, events: push.events, encryptionSecret, allowLocal: config.PUSH_LOCAL_TARGETS === 'allow', now }),
  };
  await migrateWebhooks(db, push.events);
  const webhookDelivery = composeWebhookDelivery(
    { config, log, shutdown },
    { db, push, encryptionSecret, view: eventView, tierOf: (wallet) => access.getWalletTier(wallet), now },
  );
  const purge = async (at: Date) => {
    // A clock that runs ahead would delete what has not expired.
    if ((await time.findDisagreement()) !== null) return;
    await Promise.all([
      access.purge(at),
      a2a.purge(at),
      commerce.sales.purge(at),
      push.events.purge(at),
      webhookDelivery.purge(at),
      websocket.purge(at),
    ]);
  };
  const adapters: ProtocolAdapter[] = [...a2a.adapters, composeMcp({ config, log, shutdown }, skillDeps, { runSkill, paidCalls })];
  const announce = async () => {
    agent.identity = await updateAgentUri(chain, wallets.attester, agent.identity, agentUri);
  };
  const appOptions = composeAppOptions({
    config,
    db,
    log,
    shutdown,
    now,
    identify: (authorization) => access.identify(authorization),
    ...operator,
  });
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
    replayVenue: venues.paper,
    http,
    appOptions,
    adapters,
    live,
    watchJobs: jobs.watch,
    range,
    feedReason,
    progress,
    state,
    announce,
    purge,
  };
}

function stopAfterFailure({ log, shutdown }: ProcessContext, error: OracleError): void {
  log.error({ err: error }, 'a part of the service ended by itself');
  void shutdown.stop(error.message).then(() => process.exit(1));
}
