import packageJson from '../../package.json' with { type: 'json' };
import { createPaidCalls } from '../../skills/paid-call.ts';
import { createSkillRunner } from '../../skills/runner.ts';
import { readReputation } from '../chain/erc8004/reputation.ts';
import { readArchiveHealth } from '../market/archive/archive-report.ts';
import { checkReadiness } from '../pipeline/readiness.ts';
import { readServiceStatus } from '../pipeline/status.ts';
import { joinUrl } from '../platform/service-url.ts';
import { formatStartupStep } from '../platform/startup/startup-progress.ts';
import { takeTime } from '../platform/time/clock-reader.ts';
import type { HttpDeps } from '../transports/http/deps.ts';
import { composePublicRpc, composeWalletFunds } from './chain.ts';
import { composeCommerce, composePaymentHealth, composePurchases } from './commerce/commerce.ts';
import { composeClientFeedback } from './commerce/feedback.ts';
import { composeJobs } from './commerce/jobs.ts';
import { composeEvents } from './events/event-log.ts';
import { composeWebhookDelivery } from './events/webhook-delivery.ts';
import { composeWebhooks } from './events/webhooks.ts';
import { composeWebSocket } from './events/websocket.ts';
import { composeMetrics } from './metrics/compose-metrics.ts';
import { countDeliveryAttempt, countPayment, createWorkCounts } from './metrics/work-counts.ts';
import { openCore } from './open-core.ts';
import { composeContest, composePipeline } from './pipeline/pipeline.ts';
import { composeSelfTestService } from './pipeline/self-tests.ts';
import { composeStamping } from './pipeline/timestamps.ts';
import { composeVenues } from './pipeline/venues.ts';
import type { StartupContext } from './process-context.ts';
import type { Service } from './service.ts';
import { composeSignerHealth } from './signers/signer-health.ts';
import { createStartRetry } from './startup/start-retry.ts';
import { composeA2a, composeMcp } from './transports/adapters.ts';
import { composeAdministration } from './transports/administration.ts';
import { buildCardSource, composeAbout, composeCard } from './transports/agent.ts';
import { composeDemo } from './transports/demo.ts';
import { composeAppOptions, composeAuth, shareWhileInFlight } from './transports/http-app.ts';
import { composeApplications, composeOAuth } from './transports/oauth.ts';
import { composeSkillDeps } from './transports/skills.ts';

const { version } = packageJson;

/** @param address URL of this process; null for a command, which uses the registered one */
export async function assembleService(context: StartupContext, address: string | null): Promise<Service> {
  const { config, log, logCounts, shutdown, progress } = context;
  const core = await openCore(context, address);
  const retry = createStartRetry(context, address !== null);
  const { db, chain, wallets, market, agentId, publicUrl, time, now } = core;
  progress.startStep('assembling the service');
  const getStartupStep = () => formatStartupStep(progress);
  const state: Service['state'] = { schedule: null };

  const venues = composeVenues(context, core);
  const push = composeEvents(context, core);
  const pipeline = composePipeline(context, { ...core, ...venues, push, version });
  const contest = composeContest({ ...core, log });

  const skillDeps = composeSkillDeps(context, { ...core, ...venues });
  const runSkill = createSkillRunner(skillDeps);
  const workCounts = createWorkCounts();
  const commerce = await composeCommerce(context, core, {
    isReplayAhead: () => progress.replayAhead,
    observePayment: (outcome) => countPayment(workCounts, outcome),
  });
  const jobs = await composeJobs(context, { ...core, wallet: wallets.provider, ledger: commerce.ledger, answers: skillDeps });
  const purchases = composePurchases(context, { db, chain, commerce, answers: skillDeps, now });
  const paidCalls = createPaidCalls({ sales: commerce.sales, runSkill, toUrl: (path) => joinUrl(publicUrl, path) });

  const applications = composeApplications(context, core);
  const access = await retry(() => composeAuth(core, applications?.tokens));
  const cardSource = buildCardSource(core, commerce, version);
  const card = await retry(() => composeCard({ ...core, source: cardSource }));
  const a2a = composeA2a(context, { ...core, source: cardSource, runSkill, paidCalls });
  const mcp = composeMcp(context, { ...skillDeps, access, hasOAuth: applications !== null }, { runSkill, paidCalls });

  const view = { saltSecret: core.saltSecret, policy: config.REVEAL, publicUrl, chainId: chain.chainId };
  const websocket = composeWebSocket(context, { db, access, push, view, now });
  const tierOf = (wallet: string) => access.getWalletTier(wallet);
  const webhookDelivery = composeWebhookDelivery(context, {
    ...core,
    push,
    view,
    tierOf,
    observeAttempt: (delivery, attempt) => countDeliveryAttempt(workCounts, delivery, attempt),
  });

  const { administration, ...operator } = composeAdministration({ config, db, pipeline, state, getStartupStep, log, now });
  const identify = (authorization: string | undefined) => access.identify(authorization);
  const options = composeAppOptions({ config, db, log, shutdown, now, identify, ...operator });

  const localChain = config.chainMode !== 'real';
  const checkSigners = composeSignerHealth(core.signers, now);
  const readiness = { chain, localChain, market, pingDatabase: () => core.database.ping(), time, checkSigners, setup: getStartupStep, now };
  const walletFunds = composeWalletFunds(core);
  const payments = composePaymentHealth(config, { chain, commerce, facilitator: wallets.facilitator, now });
  const status = () =>
    readServiceStatus({
      version,
      role: config.ROLE,
      feedReason: core.feedReason,
      chain,
      localChain,
      walletFunds,
      payments,
      pipeline,
      readiness,
      archiveHealth: () => readArchiveHealth(db),
      schedule: () => state.schedule,
      now,
    });
  const { loadShedder } = options;
  const selfTests = composeSelfTestService({ ...pipeline, getStartupStep });
  const { ledger } = commerce;
  const metrics = await composeMetrics({ ...core, config, log, logCounts, workCounts, loadShedder, selfTests, ledger, status });
  const appOptions = { ...options, ...(metrics !== null && { observeRequest: metrics.observeRequest }) };
  const demo = composeDemo({ ...core, access });
  const http: HttpDeps = {
    ...skillDeps,
    version,
    about: composeAbout({ config, chain, agentId, reporter: wallets.reporter.address, now }),
    access,
    accessSources: [access.apiKeys, ...(applications === null ? [] : [applications.access])],
    hasOAuth: applications !== null,
    administration,
    agentTasks: a2a.tasks,
    card,
    champions: core.champions,
    clientFeedback: composeClientFeedback(core, ledger),
    chainReading: composePublicRpc({ config, ...core.infrastructure, publicUrl }),
    commerce: { ...commerce, closed: { ...commerce.closed, ...jobs.closedChannels } },
    contest,
    dataset: core.dataset,
    timestamps: core.timestamps,
    demo,
    identity: core.identity,
    isStopping: () => shutdown.draining.aborted,
    jobs: jobs.service,
    paidCalls,
    purchases,
    readiness: shareWhileInFlight(() => checkReadiness(readiness)),
    reports: pipeline.reports,
    reputation: () => readReputation(chain, agentId, wallets.reporter.address),
    runSkill,
    selfTests,
    setup: () => progress.current,
    status,
    tickets: websocket.tickets,
    webhooks: composeWebhooks({ ...core, events: push.events, allowLocal: config.PUSH_LOCAL_TARGETS === 'allow', publicUrl }),
  };

  const oauth = applications === null ? [] : [composeOAuth(context, applications, { ...core, access, hasDemoWallets: demo !== null })];

  return {
    config,
    log,
    logCounts,
    shutdown,
    progress,
    state,
    infrastructure: core.infrastructure,
    database: core.database,
    live: core.live,
    archive: core.archive,
    range: core.range,
    feedReason: core.feedReason,
    announce: core.announce,
    champions: core.champions,
    pipeline,
    replayVenue: venues.paper,
    push,
    webhookDelivery,
    websocket,
    watchJobs: jobs.watch,
    stampDays: composeStamping(context, core),
    http,
    metrics,
    appOptions,
    adapters: [...a2a.adapters, mcp, ...oauth],
    applications: applications?.access ?? null,
    async purge(at) {
      // A clock that runs ahead would delete documents that have not expired.
      if ((await time.findDisagreement(takeTime(at))) !== null) return;
      const stores = [
        access,
        a2a,
        commerce.sales,
        push.events,
        webhookDelivery,
        websocket,
        ...(applications === null ? [] : [applications]),
      ];
      await Promise.all(stores.map((store) => store.purge(at)));
    },
  };
}
