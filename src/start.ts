import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { IDENTITY } from '../agent-card/identity.ts';
import type { Frame } from './compose/frame.ts';
import { serveWebSocket } from './compose/websocket.ts';
import { listenHost, loadConfig, secretValues } from './config.ts';
import type { Contest } from './contest/contest.ts';
import { messageOf, OracleError } from './errors.ts';
import { dayOf, instantOf } from './forecast/day.ts';
import { createApp, createStartingApp } from './http/app.ts';
import { allRoutes, workerRoutes } from './http/routes/all.ts';
import { type HttpServer, listen } from './http/server.ts';
import { bannerText } from './local/banner.ts';
import { createProgressBar } from './local/progress.ts';
import { type ReplayRange, replay } from './local/replay.ts';
import { createLog, type Log } from './log.ts';
import { assemble, type Service } from './main.ts';
import type { MissingHistory } from './market/live/backfill/run.ts';
import type { LiveMarket } from './market/live/live-market.ts';
import type { Market } from './market/market.ts';
import { catchUp } from './pipeline/catch-up.ts';
import type { ScheduledJob } from './pipeline/schedule.ts';
import { endOfData } from './pipeline/status.ts';
import { createShutdown, stopOnSignals } from './shutdown.ts';
import { beginSelfTests } from './start-self-tests.ts';
import { tryCommands } from './try-commands.ts';

const now = () => new Date();

/** Fetches the history and replays a first start, then runs the jobs; what is overdue is caught up with first. */
async function startPipeline(service: Service): Promise<void> {
  const { config, log, shutdown, infrastructure, database, pipeline, replayVenue, live, range, state, http, push, webhookDelivery } =
    service;
  const { localChain } = infrastructure;
  if (live !== null) await fetchHistory(live, service);
  const finishSelfTests = beginSelfTests(service);
  let replayed: ReplayRange | null = null;
  if (localChain !== null) {
    const bar = createProgressBar('Replaying');
    replayed = await replay({
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
    // What a replay brought is history, and told at once when it is there.
    await push.publish();
  }
  if (config.ROLE === 'api') return;
  await catchUp(pipeline, { now: now(), replayed: false }).catch((error: unknown) => log.error({ err: error }, 'catching up failed'));
  await http.contest.run().catch((error: unknown) => log.error({ err: error }, 'the contest could not be brought up to date'));
  await finishSelfTests(replayed !== null);
  startWatching(service);
  // Loaded here only: a process that just answers keeps the memory.
  const { startSchedule } = await import('./pipeline/schedule.ts');
  const own = { contest: contestJob(http.contest), payments: paymentsJob(service), housekeeping: housekeeping(service) };
  const jobs = { ...(live === null ? {} : collectJobs(live)), ...own };
  const { queues } = webhookDelivery;
  const schedule = await startSchedule({ db: database.db, parts: pipeline, log, now, jobs, queues });
  shutdown.onStop('jobs', () => schedule.drain(6_000));
  state.schedule = schedule;
  await webhookDelivery.start(schedule);
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

const HISTORY_RETRY_MS = 15_000;

/** On standard error, like the progress of long work. */
function tellPerson(text: string): void {
  process.stderr.write(`${text}\n`);
}

function tellOfMissing(missing: MissingHistory[], needed: MissingHistory[], log: Log): void {
  if (missing.length > 0) log.warn({ missing: missing.map(({ id }) => id) }, 'market history is incomplete: asking again later');
  if (needed.length === 0) return;
  tellPerson(
    `Waiting for market history, asking again every ${HISTORY_RETRY_MS / 1_000} s; GET /ready says what is missing. Ctrl-C stops it.`,
  );
}

/** Waits for the history that forecasts need; what else is missing the collector goes on asking for. */
async function fetchHistory(live: LiveMarket, { state, shutdown, log }: Service): Promise<void> {
  const bar = createProgressBar('Fetching history');
  state.setup = 'fetching market history';
  for (let attempt = 1; ; attempt++) {
    await live.collectPrices();
    const missing = await live.fetchHistory(({ done, total, label }) => {
      state.setup = `fetching market history: ${done} of ${total} pieces`;
      bar.update(done, total, label);
    });
    const needed = missing.filter(({ required }) => required);
    if (attempt === 1) tellOfMissing(missing, needed, log);
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
  const stopping = shutdown.signal;
  const server = await listen(createStartingApp({ log, stopping }), config.PORT, host, { stopping });
  shutdown.onStop('http', () => server.close());
  const url = localUrl(host, server);
  const service = await assemble(frame, url);
  // Before the parts that requests under way still need.
  shutdown.onStop('requests under way', () => server.close());
  tellPerson(`Market data: ${service.http.market.source}${service.feedReason === null ? '' : ` (${service.feedReason})`}`);
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
export function openFrame(): Frame {
  const config = loadConfig();
  const log = createLog({ level: config.LOG_LEVEL, secrets: secretValues(config) });
  const shutdown = createShutdown({ log });
  stopOnSignals(shutdown, log);
  return { config, log, shutdown };
}

/** Starts the service; an error of the start ends the process with code 1 and says what to do. */
export async function main(): Promise<void> {
  await runOrExplain(start);
}

/** Runs work within the frame of the process; what it throws is told to a person, and the process ends with `failureCode`. */
export async function runOrExplain(work: (frame: Frame) => Promise<void>, failureCode = 1): Promise<void> {
  let frame: Frame | undefined;
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
  const cause = error.code === 'INTERNAL' && error.cause !== undefined ? `\n  ${messageOf(error.cause)}` : '';
  return `\n${error.code}: ${error.message}${cause}${action}\n`;
}
