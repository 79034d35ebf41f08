import { join } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import type { CardSource } from '../agent-card/card.ts';
import { REGISTRATION_PATH } from '../agent-card/registration.ts';
import { urlAt } from '../agent-card/url.ts';
import packageJson from '../package.json' with { type: 'json' };
import { createPaidCalls } from '../skills/paid-call.ts';
import { createCarryOut } from '../skills/runner.ts';
import type { Door } from './access/door.ts';
import { ensureIdentity, updateAgentUri } from './chain/identity.ts';
import { readReputation } from './chain/reputation.ts';
import { composeA2a } from './compose/a2a.ts';
import { composeAbout } from './compose/about.ts';
import { composeAccess } from './compose/access.ts';
import { composeAdministration } from './compose/administration.ts';
import { composeAnswers } from './compose/answers.ts';
import { composeCard } from './compose/card.ts';
import { composeChain } from './compose/chain.ts';
import { composeChainReading } from './compose/chain-reading.ts';
import { composeCommerce } from './compose/commerce.ts';
import { composeContest } from './compose/contest.ts';
import { composeDoor, sharedWhileUnderWay } from './compose/door.ts';
import type { Frame, StartFrame } from './compose/frame.ts';
import { ALL_INDEXES } from './compose/indexes.ts';
import { composeJobs } from './compose/jobs.ts';
import { composeMarket, simulatedOnRealChain } from './compose/market.ts';
import { composeMcp } from './compose/mcp.ts';
import { composePipeline } from './compose/pipeline.ts';
import { composePurchases } from './compose/purchases.ts';
import { composePush } from './compose/push.ts';
import { composeSelfTestDesk } from './compose/self-tests.ts';
import type { Service } from './compose/service.ts';
import { composeTrustedTime } from './compose/trusted-time.ts';
import { composeVenues } from './compose/venues.ts';
import { composeWalletFunds } from './compose/wallet-funds.ts';
import { composeWebhookDelivery } from './compose/webhook-delivery.ts';
import { composeWebhooks } from './compose/webhooks.ts';
import { composeWebSocket } from './compose/websocket.ts';
import type { OracleError } from './errors.ts';
import { dayOf, instantOf } from './forecast/day.ts';
import { HORIZONS } from './forecast/model.ts';
import type { HttpParts } from './http/parts.ts';
import { openInfrastructure } from './local/infrastructure.ts';
import { hasDaysToReplay, replayRange } from './local/replay.ts';
import { requireSameHistory } from './local/same-history.ts';
import { parseProviderUrls } from './market/live/provider-urls.ts';
import { isLiveReachable } from './market/live/reachable.ts';
import { chooseFeed } from './market/open.ts';
import { connectMongo, ensureIndexes } from './mongo.ts';
import { readiness } from './pipeline/readiness.ts';
import { statusOf } from './pipeline/status.ts';
import type { EventViewOptions } from './push/events/view.ts';
import { bringWebhooksUpToDate } from './push/webhooks/bring-up-to-date.ts';
import { ModelStore } from './record/models.ts';
import { ForecastRecord } from './record/record.ts';
import { requireSameSalts } from './record/same-salts.ts';
import { setupText } from './setup.ts';
import { WagerBook } from './wager/wagers.ts';

const now = () => new Date();

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
  const { keys, saltSecret } = infrastructure;
  setup.at('connecting to database and chain');
  const database = await connectMongo(infrastructure.mongodbUri);
  shutdown.onStop('database connection', () => database.close());
  const { db } = database;
  await ensureIndexes(db, ALL_INDEXES);

  const { chain, journal, wallets } = await composeChain({ config, shutdown }, db, infrastructure);
  const record = new ForecastRecord({ db, saltSecret, horizons: HORIZONS });
  const { localChain } = infrastructure;
  const replayAhead = localChain !== null && (await hasDaysToReplay(db, record, range));
  // A restored chain is at the wall clock: behind a block of now nothing of the past could be dated.
  if (replayAhead && localChain.restored) await localChain.setTime(await localChain.lastBlockMs());
  const { feed, reason: feedReason } = choice.settle(await record.source());
  const { market, live } = await composeMarket({ config, log, shutdown }, db, feed);
  await requireSameHistory({ record, market, chain, journal, attester: wallets.attester.address, local: !real });
  await requireSameSalts(record, saltSecret, real ? undefined : join(config.DATA_DIR, 'keys.json'));
  const publicUrl = config.PUBLIC_URL ?? address;
  setup.at('registering the agent');
  const agentUri = urlAt(publicUrl ?? `http://127.0.0.1:${config.PORT}`, REGISTRATION_PATH);
  const agent = { identity: await ensureIdentity(chain, { agentUri, wallet: wallets.attester }) };

  setup.at('assembling the service');

  const models = new ModelStore(db);
  const wagers = new WagerBook(db);
  const venues = composeVenues({ config, log, shutdown }, { db, record, market });
  const push = composePush({ log, shutdown }, { db, record, wagers, now });
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
  const access = await composeAccess({ db, chain, encryptionSecret, agentId, publicUrl: pipeline.publicUrl(), now });
  const left = () => setupText(setup);
  const state: Service['state'] = { schedule: null };
  const { administration, ...operator } = composeAdministration({ config, db, pipeline, state, setup: left, log, now });
  const walletFunds = composeWalletFunds({ db, chain, wallets, now });
  const ready = { chain, localChain: !real, market, pingDatabase: () => database.ping(), time, setup: left, now };
  const answers = composeAnswers(
    { config },
    { ...{ chain, wallets, ...venues, saltSecret, record, models, wagers, market, now }, publicUrl: pipeline.publicUrl() },
  );
  const carryOut = createCarryOut(answers);
  const commerce = await composeCommerce(
    { config, log, shutdown },
    {
      ...{ db, chain, now, publicUrl: pipeline.publicUrl() },
      isReplayAhead: () => setup.replayAhead,
      facilitator: wallets.facilitator,
      provider: privateKeyToAccount(keys.provider),
    },
  );
  const jobs = await composeJobs(
    { config, log, shutdown },
    { db, chain, wallet: wallets.provider, ledger: commerce.ledger, answers, time, now },
  );
  const paidCalls = createPaidCalls({ sales: commerce.sales, carryOut, at: (path) => urlAt(answers.publicUrl, path) });
  const cardSource: CardSource = {
    publicUrl: pipeline.publicUrl(),
    version,
    chainId: chain.chainId,
    registry: chain.addresses.identityRegistry,
    agentId,
    payments: { payee: commerce.till.payee, asset: commerce.till.asset, receiptSigner: commerce.receiptSigner },
  };
  const card = await composeCard({ db, encryptionSecret, source: cardSource, now });
  const a2a = composeA2a({ config, log, shutdown }, { db, encryptionSecret, source: cardSource, carryOut, paidCalls, now });
  const eventView: EventViewOptions = { saltSecret, policy: config.REVEAL, publicUrl: answers.publicUrl, chainId: chain.chainId };
  const websocket = composeWebSocket({ log }, { db, access, push, view: eventView, now });
  const http: HttpParts = {
    ...answers,
    carryOut,
    agentTasks: a2a.tasks,
    about: composeAbout({ config, chain, agentId, reporter: wallets.reporter.address, now }),
    chainReading: composeChainReading({ config, rpcUrl: infrastructure.rpcUrl, publicUrl: answers.publicUrl }),
    access,
    card,
    administration,
    contest: composeContest({ db, chain, record, models, market, agentId, time, now, log }),
    version,
    setup: () => setup.current,
    reports: pipeline.reports,
    selfTests: composeSelfTestDesk({ ...pipeline, setup: left }),
    identity: () => agent.identity,
    reputation: () => readReputation(chain, agent.identity.agentId, wallets.reporter.address),
    readiness: sharedWhileUnderWay(() => readiness(ready)),
    status: () =>
      statusOf({
        version,
        role: config.ROLE,
        feedReason,
        chain,
        localChain: !real,
        walletFunds,
        pipeline,
        readiness: ready,
        schedule: () => state.schedule,
        now,
      }),
    commerce: { ...commerce, closed: { ...commerce.closed, ...jobs.closed } },
    jobs: jobs.desk,
    purchases: composePurchases({ log, shutdown }, { db, chain, commerce, answers, now }),
    tickets: websocket.tickets,
    webhooks: composeWebhooks({ db, events: push.events, encryptionSecret, allowLocal: config.PUSH_LOCAL_TARGETS === 'allow', now }),
  };
  await bringWebhooksUpToDate(db, push.events);
  const webhookDelivery = composeWebhookDelivery(
    { config, log, shutdown },
    { db, push, encryptionSecret, view: eventView, tierOf: (wallet) => access.tierOf(wallet), now },
  );
  const purge = async (at: Date) => {
    // A clock that runs ahead would delete what has not expired.
    if ((await time.disagreement()) !== null) return;
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
    agent.identity = await updateAgentUri(chain, wallets.attester, agent.identity, agentUri);
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
    replayVenue: venues.paper,
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
