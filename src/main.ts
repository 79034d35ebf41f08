import { join } from 'node:path';
import { IDENTITY } from '../agent-card/identity.ts';
import { assembleService } from './app/assemble-service.ts';
import { serveWebSocket } from './app/events/websocket.ts';
import type { StartupContext } from './app/process-context.ts';
import type { Service } from './app/service.ts';
import { renderBanner } from './app/startup/banner.ts';
import { buildDemoCommands } from './app/startup/demo-commands.ts';
import { fetchHistory, hasReplayAhead, replayPastDays } from './app/startup/history.ts';
import { startSelfTests } from './app/startup/self-tests.ts';
import type { Contest } from './contest/contest.ts';
import { toDay } from './forecast/day.ts';
import type { LiveMarket } from './market/live/live-market.ts';
import type { Market } from './market/market.ts';
import { catchUp } from './pipeline/catch-up.ts';
import { createLiveContext } from './pipeline/deps.ts';
import type { RecurringJob } from './pipeline/schedule/schedule.ts';
import { formatEndOfData } from './pipeline/status.ts';
import { getListenHost, loadConfig } from './platform/config/config.ts';
import { type Config, listSecretValues } from './platform/config/settings.ts';
import { getErrorMessage, OracleError } from './platform/errors.ts';
import { createLog } from './platform/log.ts';
import { joinUrl } from './platform/service-url.ts';
import { createShutdown, stopOnSignals } from './platform/shutdown.ts';
import { writeNotice } from './platform/startup-notice.ts';
import { createStartupProgress, formatStageLine } from './platform/startup-progress.ts';
import { allRoutes, workerRoutes } from './transports/http/routes.ts';
import { createApp, createStartingApp } from './transports/http/server/app.ts';
import { type HttpServer, listen } from './transports/http/server/http-server.ts';

const now = () => new Date();

/** Fetches the history and replays a first start, then runs the jobs; what is overdue is caught up with first. */
async function startPipeline(service: Service): Promise<void> {
  const { config, log, progress, pipeline, live, http } = service;
  const step = createStopGuard(service);
  if (live !== null) await step(fetchHistory(live, service));
  const isFirst = progress.replayAhead;
  const finishSelfTests = startSelfTests(service);
  if (isFirst) progress.startStep('replaying days of history');
  const replayed = await step(replayPastDays(service));
  if (config.ROLE === 'api') return;
  progress.startStep('catching up with what is due');
  const fails = (what: string) => (error: unknown) => log.error({ err: error }, what);
  await step(catchUp(pipeline, createLiveContext(pipeline, now())).catch(fails('catching up failed')));
  await step(http.contest.run().catch(fails('the contest could not be brought up to date')));
  progress.startStep('running the self-tests');
  const selfTests = () => step(finishSelfTests(replayed !== null));
  if (isFirst) await progress.runStage('Self-tests', selfTests, (areDone) => (areDone ? 'done' : 'go on in the background, not done'));
  else await selfTests();
  startJobWatch(service);
  await startScheduledJobs(service);
}

/** Waits for a step of the start; once a stop has begun nothing follows it, since the parts it would need are closing. */
function createStopGuard({ shutdown: { signal } }: Service): <T>(work: Promise<T>) => Promise<T> {
  return async (work) => {
    const result = await work;
    signal.throwIfAborted();
    return result;
  };
}

/** Schedules what is done from now on. */
async function startScheduledJobs(service: Service): Promise<void> {
  const { database, pipeline, live, state, http, log, shutdown, webhookDelivery } = service;
  // Loaded here only: a process that just answers keeps the memory.
  const { startSchedule } = await import('./pipeline/schedule/schedule.ts');
  const serviceJobs = {
    contest: buildContestJob(http.contest),
    payments: buildPaymentsJob(service),
    housekeeping: buildHousekeepingJob(service),
  };
  const jobs = { ...(live === null ? {} : buildCollectJobs(live)), ...serviceJobs };
  const starting = startSchedule({ db: database.db, deps: pipeline, log, now, jobs, queues: webhookDelivery.queues });
  // Registered before it runs: a stop that comes meanwhile waits for it, and drains it while the database is there.
  shutdown.onStop('jobs', async () => (await starting).drain(6_000));
  state.schedule = await starting;
  await webhookDelivery.start(state.schedule);
}

/** Jobs of their own, so that a provider that is slow to answer, or a long history, holds up nothing else. */
function buildCollectJobs(live: LiveMarket): Record<string, RecurringJob> {
  return {
    prices: { cron: '* * * * *', run: live.collectPrices },
    collect: { cron: '* * * * *', run: live.collect },
    history: { cron: '*/15 * * * *', run: live.completeHistory },
  };
}

/** What waited for a price or a forecast is taken up again within minutes. */
function buildContestJob(contest: Contest): RecurringJob {
  return {
    cron: '*/15 * * * *',
    run: async () => {
      await contest.run();
    },
  };
}

/** Not a scheduled job: who has funded one waits for it, and a minute is long. */
function startJobWatch({ watchJobs, shutdown }: Service): void {
  if (watchJobs === null) return;
  const watching = watchJobs();
  shutdown.onStop('agent commerce', () => watching);
}

/** Payments whose process died before they were answered. */
function buildPaymentsJob({ http: { commerce, purchases } }: Service): RecurringJob {
  return {
    cron: '* * * * *',
    run: async () => {
      await commerce.sales.sweep();
      await purchases.sweep();
    },
  };
}

/** Deletes what has expired: not every engine does it by itself. */
function buildHousekeepingJob({ purge }: Service): RecurringJob {
  return { cron: '17 * * * *', run: () => purge(now()) };
}

async function startService(opened: StartupContext): Promise<void> {
  const progress = createStartupProgress('starting', writeNotice);
  const context = { ...opened, progress };
  const { config, log, shutdown } = context;
  const host = getListenHost(config);
  const stopping = shutdown.signal;
  const server = await listen(
    createStartingApp({ log, stopping, setup: progress, publicUrl: config.PUBLIC_URL ?? 'http://127.0.0.1' }),
    config.PORT,
    host,
    { stopping, limits: { maxConnections: config.MAX_CONNECTIONS, trustProxy: config.TRUST_PROXY } },
  );
  shutdown.onStop('http', () => server.close());
  const url = getReachableUrl(host, server);
  const service = await assembleService(context, url);
  progress.replayAhead = await hasReplayAhead(service);
  // Before the parts that requests under way still need.
  shutdown.onStop('requests under way', () => server.close());
  const isWorker = config.ROLE === 'worker';
  const app = isWorker
    ? createApp(workerRoutes(service.http), service.appOptions)
    : createApp(allRoutes(service.http), service.appOptions, service.adapters);
  // Handshakes first: until they are taken they are told to wait, whatever else is served.
  if (isWorker) {
    server.serveHandshakes(app);
  } else {
    // Ended before the server, which waits for its connections.
    shutdown.onStop('WebSocket connections', await serveWebSocket(server, service));
  }
  server.serve(app);
  printServedInterfaces(service, url);
  await createStopGuard(service)(startPipeline(service));
  // A second process on the same chain speaks for the service only under the address it was told.
  if (config.PUBLIC_URL !== undefined || service.infrastructure.localChain !== null) await service.announce();
  progress.complete();
  process.stdout.write(await buildBanner(service, url));
}

/** Where the page is, which fills while history is replayed, and what it shows. */
function printServedInterfaces({ config, http, feedReason, progress }: Service, url: string): void {
  if (config.ROLE !== 'worker') {
    const fillNote = progress.replayAhead ? ' (fills while history is replayed)' : '';
    writeNotice(formatStageLine('Page', `${getPageUrl(config, url)}${fillNote}`));
  }
  writeNotice(`Market data: ${http.market.source}${feedReason === null ? '' : ` (${feedReason})`}`);
}

/** Where people see the service. */
function getPageUrl({ PUBLIC_URL }: Config, url: string): string {
  return joinUrl(PUBLIC_URL ?? url, '/');
}

async function buildBanner({ config, http, infrastructure, feedReason }: Service, url: string): Promise<string> {
  const { record } = http;
  const [from, to, replayedDays] = await Promise.all([
    record.findGenesisDay(),
    record.findLastDay(),
    record.days.countDocuments({ replayed: true }),
  ]);
  return renderBanner({
    name: IDENTITY.name,
    version: http.version,
    url,
    pageUrl: config.ROLE === 'worker' ? null : getPageUrl(config, url),
    source: http.market.source,
    reason: feedReason ?? (await describeEndedFeed(http.market)),
    record: from === null || to === null ? null : { from, to, replayedDays },
    demo: infrastructure.demo,
    demoPath: join(config.DATA_DIR, 'demo.json'),
    demoCommands: infrastructure.demo === null ? null : buildDemoCommands(config, url),
    exampleUid: await record.findExampleUid(),
  });
}

async function describeEndedFeed(market: Market): Promise<string | null> {
  const { lastDay } = await market.coverage();
  return lastDay !== null && lastDay < toDay(Date.now()) ? formatEndOfData(lastDay) : null;
}

function getReachableUrl(host: string, { port }: HttpServer): string {
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${shown}:${port}`;
}

/** Reads the settings and prepares what outlives any part: the log and the way to stop. */
function openStartupContext(): StartupContext {
  const config = loadConfig();
  const log = createLog({ level: config.LOG_LEVEL, secrets: listSecretValues(config) });
  const shutdown = createShutdown({ log });
  stopOnSignals(shutdown, log);
  return { config, log, shutdown, progress: createStartupProgress() };
}

/** Starts the service; an error of the start ends the process with code 1 and says what to do. */
export async function runService(): Promise<void> {
  await runProcess(startService);
}

/** Runs work within the frame of the process; what it throws is told to a person, and the process ends with `failureCode`. */
export async function runProcess(work: (context: StartupContext) => Promise<void>, failureCode = 1): Promise<void> {
  let context: StartupContext | undefined;
  try {
    context = openStartupContext();
    await work(context);
  } catch (error) {
    // A signal ends the process itself: what its stop interrupts is no error of its own.
    if (context?.shutdown.signal.aborted) return;
    process.stderr.write(formatStartupError(error));
    await context?.shutdown.stop('the start failed');
    process.exit(failureCode);
  }
}

function formatStartupError(error: unknown): string {
  if (!(error instanceof OracleError)) return `${error instanceof Error ? error.stack : String(error)}\n`;
  const action = error.suggestedAction === undefined ? '' : `\n  -> ${error.suggestedAction}`;
  const hasLibraryMessage = ['INTERNAL', 'CHAIN_REVERTED', 'CHAIN_UNREACHABLE'].includes(error.code);
  const cause = hasLibraryMessage && error.cause !== undefined ? `\n  ${getErrorMessage(error.cause)}` : '';
  return `\n${error.code}: ${error.message}${cause}${action}\n`;
}
