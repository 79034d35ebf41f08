import { join } from 'node:path';
import { IDENTITY } from '../agent-card/identity.ts';
import { urlAt } from '../agent-card/url.ts';
import type { StartFrame } from './compose/frame.ts';
import type { Service } from './compose/service.ts';
import { serveWebSocket } from './compose/websocket.ts';
import { type Config, listenHost, loadConfig, secretValues } from './config.ts';
import type { Contest } from './contest/contest.ts';
import { messageOf, OracleError } from './errors.ts';
import { dayOf } from './forecast/day.ts';
import { createApp, createStartingApp } from './http/app.ts';
import { allRoutes, workerRoutes } from './http/routes/all.ts';
import { type HttpServer, listen } from './http/server.ts';
import { bannerText } from './local/banner.ts';
import { createLog } from './log.ts';
import { assemble } from './main.ts';
import type { LiveMarket } from './market/live/live-market.ts';
import type { Market } from './market/market.ts';
import { catchUp } from './pipeline/catch-up.ts';
import { liveContext } from './pipeline/parts.ts';
import type { ScheduledJob } from './pipeline/schedule.ts';
import { endOfData } from './pipeline/status.ts';
import { createSetup, partLine } from './setup.ts';
import { createShutdown, stopOnSignals } from './shutdown.ts';
import { fetchHistory, isReplayAhead, replayHistory } from './start-history.ts';
import { beginSelfTests } from './start-self-tests.ts';
import { tellPerson } from './tell-person.ts';
import { tryCommands } from './try-commands.ts';

const now = () => new Date();

/** Fetches the history and replays a first start, then runs the jobs; what is overdue is caught up with first. */
async function startPipeline(service: Service): Promise<void> {
  const { config, log, setup, pipeline, live, http } = service;
  const step = unlessStopped(service);
  if (live !== null) await step(fetchHistory(live, service));
  const isFirst = setup.replayAhead;
  const finishSelfTests = beginSelfTests(service);
  if (isFirst) setup.at('replaying days of history');
  const replayed = await step(replayHistory(service));
  if (config.ROLE === 'api') return;
  setup.at('catching up with what is due');
  const fails = (what: string) => (error: unknown) => log.error({ err: error }, what);
  await step(catchUp(pipeline, liveContext(pipeline, now())).catch(fails('catching up failed')));
  await step(http.contest.run().catch(fails('the contest could not be brought up to date')));
  setup.at('running the self-tests');
  const selfTests = () => step(finishSelfTests(replayed !== null));
  if (isFirst) await setup.part('Self-tests', selfTests, (areDone) => (areDone ? 'done' : 'go on in the background, not done'));
  else await selfTests();
  startWatching(service);
  await startJobs(service);
}

/** Waits for a step of the start; once a stop has begun nothing follows it, since the parts it would need are closing. */
function unlessStopped({ shutdown: { signal } }: Service): <T>(work: Promise<T>) => Promise<T> {
  return async (work) => {
    const result = await work;
    signal.throwIfAborted();
    return result;
  };
}

/** Schedules what is done from now on. */
async function startJobs(service: Service): Promise<void> {
  const { database, pipeline, live, state, http, log, shutdown, webhookDelivery } = service;
  // Loaded here only: a process that just answers keeps the memory.
  const { startSchedule } = await import('./pipeline/schedule.ts');
  const own = { contest: contestJob(http.contest), payments: paymentsJob(service), housekeeping: housekeeping(service) };
  const jobs = { ...(live === null ? {} : collectJobs(live)), ...own };
  const starting = startSchedule({ db: database.db, parts: pipeline, log, now, jobs, queues: webhookDelivery.queues });
  // Registered before it runs: a stop that comes meanwhile waits for it, and drains it while the database is there.
  shutdown.onStop('jobs', async () => (await starting).drain(6_000));
  state.schedule = await starting;
  await webhookDelivery.start(state.schedule);
}

/** Jobs of their own, so that a provider that is slow to answer, or a long history, holds up nothing else. */
function collectJobs(live: LiveMarket): Record<string, ScheduledJob> {
  return {
    prices: { cron: '* * * * *', run: live.collectPrices },
    collect: { cron: '* * * * *', run: live.collect },
    history: { cron: '*/15 * * * *', run: live.completeHistory },
  };
}

/** What waited for a price or a forecast is taken up again within minutes. */
function contestJob(contest: Contest): ScheduledJob {
  return {
    cron: '*/15 * * * *',
    run: async () => {
      await contest.run();
    },
  };
}

/** Not a scheduled job: who has funded one waits for it, and a minute is long. */
function startWatching({ watchJobs, shutdown }: Service): void {
  if (watchJobs === null) return;
  const watching = watchJobs();
  shutdown.onStop('agent commerce', () => watching);
}

/** Payments whose process died before they were answered. */
function paymentsJob({ http: { commerce, purchases } }: Service): ScheduledJob {
  return {
    cron: '* * * * *',
    run: async () => {
      await commerce.sales.sweep();
      await purchases.sweep();
    },
  };
}

/** Deletes what has expired: not every engine does it by itself. */
function housekeeping({ purge }: Service): ScheduledJob {
  return { cron: '17 * * * *', run: () => purge(now()) };
}

async function start(opened: StartFrame): Promise<void> {
  const setup = createSetup('starting', tellPerson);
  const frame = { ...opened, setup };
  const { config, log, shutdown } = frame;
  const host = listenHost(config);
  const stopping = shutdown.signal;
  const server = await listen(
    createStartingApp({ log, stopping, setup, publicUrl: config.PUBLIC_URL ?? 'http://127.0.0.1' }),
    config.PORT,
    host,
    { stopping, limits: { maxConnections: config.MAX_CONNECTIONS, trustProxy: config.TRUST_PROXY } },
  );
  shutdown.onStop('http', () => server.close());
  const url = localUrl(host, server);
  const service = await assemble(frame, url);
  setup.replayAhead = await isReplayAhead(service);
  // Before the parts that requests under way still need.
  shutdown.onStop('requests under way', () => server.close());
  const isWorker = config.ROLE === 'worker';
  const app = isWorker
    ? createApp(workerRoutes(service.http), service.door)
    : createApp(allRoutes(service.http), service.door, service.doors);
  // Handshakes first: until they are taken they are told to wait, whatever else is served.
  if (isWorker) {
    server.upgrade(app);
  } else {
    // Ended before the server, which waits for its connections.
    shutdown.onStop('WebSocket connections', await serveWebSocket(server, service));
  }
  server.serve(app);
  tellWhatIsServed(service, url);
  await unlessStopped(service)(startPipeline(service));
  // A second process on the same chain speaks for the service only under the address it was told.
  if (config.PUBLIC_URL !== undefined || service.infrastructure.localChain !== null) await service.announce();
  setup.complete();
  process.stdout.write(await banner(service, url));
}

/** Where the page is, which fills while history is replayed, and what it shows. */
function tellWhatIsServed({ config, http, feedReason, setup }: Service, url: string): void {
  if (config.ROLE !== 'worker') {
    const fills = setup.replayAhead ? ' (fills while history is replayed)' : '';
    tellPerson(partLine('Page', `${pageUrl(config, url)}${fills}`));
  }
  tellPerson(`Market data: ${http.market.source}${feedReason === null ? '' : ` (${feedReason})`}`);
}

/** Where people see the service. */
function pageUrl({ PUBLIC_URL }: Config, url: string): string {
  return urlAt(PUBLIC_URL ?? url, '/');
}

async function banner({ config, http, infrastructure, feedReason }: Service, url: string): Promise<string> {
  const { record } = http;
  const [from, to, replayedDays] = await Promise.all([record.genesis(), record.lastDay(), record.days.countDocuments({ replayed: true })]);
  return bannerText({
    name: IDENTITY.name,
    version: http.version,
    url,
    pageUrl: config.ROLE === 'worker' ? null : pageUrl(config, url),
    source: http.market.source,
    reason: feedReason ?? (await endedFeed(http.market)),
    record: from === null || to === null ? null : { from, to, replayedDays },
    demo: infrastructure.demo,
    demoPath: join(config.DATA_DIR, 'demo.json'),
    commands: infrastructure.demo === null ? null : tryCommands(config, url),
    exampleUid: await record.exampleUid(),
  });
}

async function endedFeed(market: Market): Promise<string | null> {
  const { lastDay } = await market.coverage();
  return lastDay !== null && lastDay < dayOf(Date.now()) ? endOfData(lastDay) : null;
}

function localUrl(host: string, { port }: HttpServer): string {
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${shown}:${port}`;
}

/** Reads the settings and prepares what outlives any part: the log and the way to stop. */
function openFrame(): StartFrame {
  const config = loadConfig();
  const log = createLog({ level: config.LOG_LEVEL, secrets: secretValues(config) });
  const shutdown = createShutdown({ log });
  stopOnSignals(shutdown, log);
  return { config, log, shutdown, setup: createSetup() };
}

/** Starts the service; an error of the start ends the process with code 1 and says what to do. */
export async function main(): Promise<void> {
  await runOrExplain(start);
}

/** Runs work within the frame of the process; what it throws is told to a person, and the process ends with `failureCode`. */
export async function runOrExplain(work: (frame: StartFrame) => Promise<void>, failureCode = 1): Promise<void> {
  let frame: StartFrame | undefined;
  try {
    frame = openFrame();
    await work(frame);
  } catch (error) {
    // A signal ends the process itself: what its stop interrupts is no error of its own.
    if (frame?.shutdown.signal.aborted) return;
    process.stderr.write(explain(error));
    await frame?.shutdown.stop('the start failed');
    process.exit(failureCode);
  }
}

function explain(error: unknown): string {
  if (!(error instanceof OracleError)) return `${error instanceof Error ? error.stack : String(error)}\n`;
  const action = error.suggestedAction === undefined ? '' : `\n  -> ${error.suggestedAction}`;
  const hasOtherWords = ['INTERNAL', 'CHAIN_REVERTED', 'CHAIN_UNREACHABLE'].includes(error.code);
  const cause = hasOtherWords && error.cause !== undefined ? `\n  ${messageOf(error.cause)}` : '';
  return `\n${error.code}: ${error.message}${cause}${action}\n`;
}
