import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ENDPOINTS, IDENTITY } from '../../agent-card/endpoints.ts';
import { formatLocalUrl, getListenHost } from '../config.ts';
import type { DemoFile } from '../dev/demo.ts';
import type { LocalChain } from '../dev/local-chain/local-chain.ts';
import { findLaterBeginning, hasDaysToReplay, type ReplayRange, replayDays } from '../dev/replay.ts';
import { type Day, formatDay, toDay } from '../forecast/day.ts';
import { HORIZONS } from '../forecast/model.ts';
import { healthRoutes } from '../http/routes/health.ts';
import { getPageBundle } from '../http/routes/home.ts';
import { allRoutes } from '../http/routes.ts';
import { createHttpServer, createListener, createStartingApp, type HttpServer } from '../http/server.ts';
import type { LiveMarket, MissingHistory } from '../market/live/live-market.ts';
import { type Metrics, serveMetrics } from '../ops/metrics.ts';
import { createLiveContext } from '../pipeline/forecaster.ts';
import { catchUp, catchUpSelfTests, prepareSelfTests } from '../pipeline/pipeline.ts';
import type { RecurringJob } from '../pipeline/schedule.ts';
import { formatEndOfData } from '../pipeline/status.ts';
import { inDataDir, quoteForShell } from '../platform/data-dir.ts';
import type { Log } from '../platform/log.ts';
import { createProgressBar, createStartupProgress, formatStageLine, withTightHeap, writeNotice } from '../platform/progress.ts';
import { joinUrl } from '../platform/service-client.ts';
import type { RecordProjection } from '../record/projection.ts';
import { type Config, SETTINGS } from '../settings.ts';
import { assembleService, type Service } from './app.ts';
import { serveWebSocket } from './events.ts';
import { createStartRetry, type StartupContext } from './infrastructure.ts';

const MAX_WAIT_MS = 5_000;

export async function startService(opened: StartupContext): Promise<void> {
  const progress = createStartupProgress('starting', writeNotice);
  const context = { ...opened, progress };
  const { config, log, shutdown } = context;
  for (const { name, problem } of config.unknownVariables) writeNotice(`${name}: ${problem}`);
  // Fails the start rather than the first request.
  getPageBundle();
  const host = getListenHost(config);
  const stopping = shutdown.draining;
  const server = createHttpServer(
    createStartingApp({ log, stopping, setup: progress, publicUrl: config.PUBLIC_URL ?? 'http://127.0.0.1' }),
    { stopping, limits: { maxConnections: config.MAX_CONNECTIONS, trustProxy: config.TRUST_PROXY } },
  );
  shutdown.onStop('http', () => server.close());
  // A proxy repeats at another process what finds no listener, whatever its method, but not what is answered 503.
  const listensLate = config.ROLE === 'api' && config.PORT !== 0;
  if (!listensLate) await server.listen(config.PORT, host);
  const url = formatLocalUrl(host, listensLate ? config.PORT : server.port);
  const service = await assembleService(context, url);
  const retry = createStartRetry(service);
  const { localChain } = service.infrastructure;
  progress.replayAhead = localChain !== null && (await retry(() => hasDaysToReplay({ ...service, chain: localChain })));
  const countWebSockets = await serve(service, server);
  if (listensLate) await server.listen(config.PORT, host);
  // Before anything else stops: a request that is accepted is answered.
  shutdown.setDrain(config.ROLE === 'worker' ? 0 : 1_000 * config.DRAIN_SECONDS, server.stopAccepting);
  service.metrics?.observeConnections(() => ({ shares: server.listUse(), webSockets: countWebSockets() }));
  if (service.metrics !== null) await startMetrics(service, service.metrics);
  printServedInterfaces(service, url);
  await createStopGuard(service)(startPipeline(service));
  // A second process on the same chain announces the service only under a configured address.
  if (config.PUBLIC_URL !== undefined || localChain !== null) await retry(() => service.announce());
  progress.complete();
  process.stdout.write(await buildBanner(service, url));
}

/** Takes over what other processes write, and computes ahead of requests what a change has made old. */
function followRecord({ config, log, shutdown, progress, record, figures, dataset }: Service): void {
  const signal = shutdown.signal;
  const ended = record.known.follow({
    ...{ log, signal },
    async onChanged() {
      // A replay changes it all the time, and needs the processor.
      if (progress.replayAhead) return;
      await figures.refresh();
      if (config.ROLE !== 'api') await dataset.refresh();
    },
  });
  shutdown.onStop('the record in memory', () => ended);
}

/** Returns a function that counts the open WebSocket connections. */
async function serve(service: Service, server: HttpServer): Promise<() => number> {
  const { config, shutdown, http, appOptions, adapters } = service;
  followRecord(service);
  // Stops before the parts that requests in flight need.
  shutdown.onStop('requests under way', () => server.close());
  if (config.ROLE === 'worker') {
    const app = createListener(healthRoutes(http), appOptions);
    server.serveHandshakes(app);
    server.serve(app);
    return () => 0;
  }
  // Handshakes first: until they are served, clients are asked to retry. Connections close before the server, which waits for them.
  const webSockets = await serveWebSocket(server, service);
  shutdown.onStop('WebSocket connections', webSockets.close);
  server.serve(createListener(allRoutes(http), appOptions, adapters));
  return webSockets.count;
}

async function startMetrics({ config, log, shutdown }: Service, metrics: Metrics): Promise<void> {
  const { METRICS_HOST: host } = config;
  const server = await serveMetrics(metrics, { port: config.METRICS_PORT ?? 0, host, log });
  shutdown.onStop('metrics', () => server.close());
  log.info({ url: `${formatLocalUrl(host, server.port)}/metrics` }, 'serving metrics');
}

/** Fetches the history, replays a first start, catches up with overdue steps, and starts the jobs. */
async function startPipeline(service: Service): Promise<void> {
  const { config, progress, live } = service;
  const step = createStopGuard(service);
  const retry = createStartRetry(service);
  if (config.ROLE !== 'api') await step(retry(() => applyChampion(service)));
  if (live !== null) await step(retry(() => fetchHistory(live, service)));
  const prepare = () => replayAndCatchUp(service);
  await (progress.replayAhead ? withTightHeap(prepare) : prepare());
  if (config.ROLE === 'api') return;
  // Not a scheduled job: the buyer of a funded job waits, and a minute is long.
  const watching = service.watchJobs?.();
  if (watching !== undefined) service.shutdown.onStop('agent commerce', () => watching);
  await startScheduledJobs(service);
}

async function replayAndCatchUp(service: Service): Promise<void> {
  const { config, log, progress, pipeline, http } = service;
  const step = createStopGuard(service);
  const retry = createStartRetry(service);
  const finishSelfTests = startSelfTests(service);
  const isFirst = progress.replayAhead;
  if (isFirst) progress.startStep('replaying days of history');
  const replayed = await step(retry(() => replayPastDays(service)));
  if (config.ROLE === 'api') return;
  progress.startStep('catching up with what is due');
  const logFailure = (message: string) => (error: unknown) => log.error({ err: error }, message);
  await step(catchUp(pipeline, createLiveContext(pipeline, new Date())).catch(logFailure('catching up failed')));
  await step(http.contest.run().catch(logFailure('the contest could not be brought up to date')));
  progress.startStep('running the self-tests');
  const selfTests = () => step(finishSelfTests(replayed !== null));
  if (isFirst) await progress.runStage('Self-tests', selfTests, (areDone) => (areDone ? 'done' : 'go on in the background, not done'));
  else await selfTests();
}

function applyChampion({ config, champions, pipeline: { figures } }: Service): Promise<void> {
  const setting = { champion: config.MODEL_CHAMPION, force: config.MODEL_CHAMPION_FORCE === 'on' };
  const readFigures = () => Promise.all(HORIZONS.map((horizonDays) => figures.getChallenge(horizonDays)));
  return champions.apply(setting, readFigures, new Date());
}

/** Continues after a step only if no stop has begun, since a stop closes the parts that the next step needs. */
function createStopGuard({ shutdown: { signal } }: Service): <T>(work: Promise<T>) => Promise<T> {
  return async (work) => {
    const result = await work;
    signal.throwIfAborted();
    return result;
  };
}

/** Starts the overdue self-tests that need no record. The returned function runs the others and resolves to whether all are done in time. */
function startSelfTests(service: Service): (hasReplayed: boolean) => Promise<boolean> {
  const { config, pipeline, log, shutdown } = service;
  if (config.ROLE === 'api') return async () => false;
  const computed = prepareSelfTests(pipeline, new Date());
  return async (hasReplayed) => {
    const running = computed
      .then(() => catchUpSelfTests(pipeline, createLiveContext(pipeline, new Date())))
      .catch((error: unknown) => log.error({ err: error }, 'catching up with self-tests failed'));
    shutdown.onStop('self-tests', () => running.then(() => undefined));
    return hasReplayed && Promise.race([running.then(() => true), delay(MAX_WAIT_MS, false, { ref: false })]);
  };
}

/** Prints the URL of the page, which fills while history is replayed, and the source of its data. */
function printServedInterfaces({ config, http, feedReason, progress }: Service, url: string): void {
  if (config.ROLE !== 'worker') {
    const fillNote = progress.replayAhead ? ' (fills while history is replayed)' : '';
    writeNotice(formatStageLine('Page', `${getPageUrl(config, url)}${fillNote}`));
  }
  writeNotice(`Market data: ${http.market.source}${feedReason === null ? '' : ` (${feedReason})`}`);
}

const getPageUrl = ({ PUBLIC_URL }: Config, url: string) => joinUrl(PUBLIC_URL ?? url, '/');

/** Uid for examples: the last revealed prediction, else the newest; null before the first. */
function findExampleUid(known: RecordProjection): string | null {
  const attested = known.listByHorizon(Math.max(...HORIZONS)).filter(({ attestation }) => attestation !== null);
  const doc = attested.findLast(({ reveal }) => reveal !== null) ?? attested.at(-1);
  return doc?.attestation?.uid ?? null;
}

async function buildBanner({ config, http, infrastructure, feedReason }: Service, url: string): Promise<string> {
  const { record, market } = http;
  const { lastDay } = await market.coverage();
  const endOfData = lastDay !== null && lastDay < toDay(Date.now()) ? formatEndOfData(lastDay) : null;
  const days = record.known.listDays();
  const [from, to] = [days[0]?.day, days.at(-1)?.day];
  return renderBanner({
    name: IDENTITY.name,
    version: http.version,
    url,
    pageUrl: config.ROLE === 'worker' ? null : getPageUrl(config, url),
    source: market.source,
    reason: feedReason ?? endOfData,
    record: from === undefined || to === undefined ? null : { from, to, replayedDays: days.filter(({ replayed }) => replayed).length },
    demo: infrastructure.demo,
    demoPath: join(config.DATA_DIR, 'demo.json'),
    demoCommands: infrastructure.demo === null ? null : buildDemoCommands(config, url),
    exampleUid: findExampleUid(record.known),
  });
}

export interface BannerContent {
  name: string;
  version: string;
  url: string;
  /** URL of the page; null for a process that serves none. */
  pageUrl: string | null;
  source: string;
  reason: string | null;
  /** First and last day and the number of replayed days; null while the record is empty. */
  record: { from: Day; to: Day; replayedDays: number } | null;
  demo: DemoFile | null;
  demoPath: string;
  /** Null without demo wallets. */
  demoCommands: ReturnType<typeof buildDemoCommands> | null;
  exampleUid: string | null;
}

/** One screen: the page, the data source, the wallets, and a command for each interface. */
export function renderBanner({ name, version, url, pageUrl, source, reason, record, demo, demoPath, ...examples }: BannerContent): string {
  return [
    '',
    ...(pageUrl === null ? [] : [`Open ${pageUrl}`, '']),
    `${name} ${version} is up: ${url}`,
    '',
    `Market data: ${source}`,
    ...(reason === null ? [] : [`             ${reason}`]),
    formatRecord(record),
    ...(demo === null ? [] : formatWallets(demo, demoPath)),
    '',
    'Try it:',
    ...formatExamples({ url, ...examples }).map((line) => `  ${line}`),
    '',
    'Ctrl-C stops it; the next start continues.',
    '',
  ].join('\n');
}

function formatExamples({ url, demoCommands: commands, exampleUid }: Pick<BannerContent, 'url' | 'demoCommands' | 'exampleUid'>): string[] {
  const asHolder = `curl -H "Authorization: Bearer $TOKEN"`;
  return [
    ...(commands === null ? [] : exampleUid === null ? [commands.look] : [commands.look, commands.check]),
    `curl ${url}/api/svc/open/signal`,
    ...(commands === null ? [] : [`TOKEN=$(${commands.token}) && ${asHolder} ${url}/api/svc/oracle`]),
    ...(exampleUid === null ? [] : [`curl ${url}/api/svc/onchain-oracle/verify/${exampleUid}`]),
    `curl -i ${url}/oracle`,
    ...(commands === null ? [] : [commands.watch, commands.agent]),
    `curl ${url}${ENDPOINTS.agentCard}`,
    `npx -y @modelcontextprotocol/inspector --cli ${url}${ENDPOINTS.mcp} --method tools/list`,
    `${url}/docs in a browser: every operation, to try out`,
  ];
}

function formatRecord(record: BannerContent['record']): string {
  if (record === null) return 'Record:      empty; it begins at 21:35 UTC';
  const { from, to, replayedDays } = record;
  const replayed = replayedDays === 0 ? '' : `; ${replayedDays} days replayed at their own dates, marked "replayed"`;
  return `Record:      ${formatDay(from)} to ${formatDay(to)}${replayed}`;
}

const WALLET_DESCRIPTIONS: Readonly<Record<string, string>> = {
  basic: 'gate tokens of the Basic tier',
  premium: 'gate tokens of the Premium tier',
  poor: 'nothing: refused everywhere',
  buyer: '1,000 USD of the stablecoin, to pay with',
};

function formatWallets({ rpcUrl, chainId, wallets }: DemoFile, demoPath: string): string[] {
  return [
    `Chain:       local, id ${chainId}, ${rpcUrl}`,
    '',
    `Throw-away wallets, of use on this local chain only (keys and contracts in ${demoPath}):`,
    ...Object.entries(wallets).map(([name, { address }]) => `  ${name.padEnd(8)} ${address}  ${WALLET_DESCRIPTIONS[name] ?? ''}`.trimEnd()),
  ];
}

/** Commands for a service with these settings at this URL; defaults of the scripts are left out. */
export function buildDemoCommands({ DATA_DIR }: Pick<Config, 'DATA_DIR'>, url: string) {
  const folder = DATA_DIR === SETTINGS.DATA_DIR.default ? '' : `DATA_DIR=${quoteForShell(DATA_DIR)} `;
  const isDefaultUrl = url === `http://127.0.0.1:${SETTINGS.PORT.default}`;
  const urlOption = isDefaultUrl ? '' : ` --url ${url}`;
  return {
    token: `${folder}npm run -s token -- premium${urlOption}`,
    look: `npx svc signal${urlOption}`,
    check: `${folder}npx svc verify latest${urlOption}`,
    watch: `${folder}${isDefaultUrl ? '' : `SERVICE_URL=${url} `}node examples/receivers/watch.mjs 0`,
    agent: `${folder}npm run demo:agent${isDefaultUrl ? '' : ` -- --url ${url}`}`,
  };
}

const HISTORY_RETRY_MS = 15_000;

/** Waits for the history that forecasts need; the collector continues to request the rest. */
async function fetchHistory(live: LiveMarket, { progress, shutdown, log, time }: Service): Promise<void> {
  progress.startStep('fetching market history');
  for (let attempt = 1; ; attempt++) {
    // A candle of a day that has not ended would be stored as its close.
    for (let reason = await time.findDisagreement(); reason !== null; reason = await time.findDisagreement()) {
      progress.startStep(`waiting: ${reason}`);
      await delay(HISTORY_RETRY_MS, undefined, { signal: shutdown.signal });
    }
    // An ended bar draws nothing more.
    const bar = createProgressBar('Fetching history');
    await live.collectSpot();
    const missing = await live.fetchHistory(({ done, total, label }) => {
      progress.startStep('fetching pieces of market history', { done, total });
      bar.update(done, total, label);
    });
    bar.end();
    const needed = missing.filter(({ required }) => required);
    if (attempt === 1) reportMissingHistory(missing, needed, log);
    if (needed.length === 0) break;
    progress.startStep(`waiting for market history: ${needed.map(({ reason }) => reason).join('; ')}`);
    await delay(HISTORY_RETRY_MS, undefined, { signal: shutdown.signal });
  }
  // Not awaited: a slow provider must not delay the daily steps.
  live.collect().catch((error: unknown) => log.error({ err: error }, 'collecting market data failed'));
}

function reportMissingHistory(missing: MissingHistory[], needed: MissingHistory[], log: Log): void {
  if (missing.length > 0) log.warn({ missing: missing.map(({ id }) => id) }, 'market history is incomplete: asking again later');
  if (needed.length === 0) return;
  writeNotice(
    `Waiting for market history, asking again every ${HISTORY_RETRY_MS / 1_000} s; GET /ready says what is missing. Ctrl-C stops it.`,
  );
}

/** Says that a folder keeps the record that it has, which a larger REPLAY_DAYS does not lengthen. */
async function reportUnusedReplay(service: Service, chain: LocalChain): Promise<void> {
  const { config } = service;
  const begins = await findLaterBeginning({ ...service, chain });
  if (begins === undefined) return;
  const why = begins === null ? 'it was begun without a history' : `its record begins on ${formatDay(begins)}`;
  writeNotice(`REPLAY_DAYS=${config.REPLAY_DAYS} has no effect on ${config.DATA_DIR}: ${why}. Another DATA_DIR begins one with all days.`);
}

/** Replays past days on the chain of this process, then sets its clock to the present; null if there is nothing to replay. */
async function replayPastDays(service: Service): Promise<ReplayRange | null> {
  const { progress, shutdown, db, pipeline, replayVenue, range, push } = service;
  const { localChain } = service.infrastructure;
  if (localChain === null) return null;
  await reportUnusedReplay(service, localChain);
  const bar = createProgressBar('Replaying');
  const options: Parameters<typeof replayDays>[0] = {
    db,
    pipeline: { ...pipeline, venue: replayVenue },
    range,
    chain: localChain,
    publish: () => push.publish(),
    onProgress: ({ done, total, day }) => {
      progress.startStep('replaying days of history', { done, total });
      bar.update(done, total, formatDay(day));
    },
    signal: shutdown.signal,
  };
  const replayed = await inDataDir(service.config.DATA_DIR, () => replayDays(options));
  bar.end();
  await localChain.followWallClock();
  progress.replayAhead = false;
  // Replayed events are history and are published at once.
  await push.publish();
  return replayed;
}

async function startScheduledJobs(service: Service): Promise<void> {
  const { db, pipeline, state, log, shutdown, webhookDelivery, now } = service;
  // Imported on demand: an API process saves the memory.
  const { startSchedule } = await import('../pipeline/schedule.ts');
  const jobs = buildJobs(service);
  const retry = createStartRetry(service);
  const starting = startSchedule({ db, deps: pipeline, log, now, jobs, retry });
  // Registered before the schedule runs: a stop during the start waits for it, and drains it while the database is open.
  shutdown.onStop('jobs', async () => (await starting).drain(6_000));
  const schedule = await starting;
  state.schedule = schedule;
  await retry(() => webhookDelivery.start());
}

/** Separate jobs: a slow provider or a long history delays nothing else. */
function buildJobs(service: Service): Record<string, RecurringJob> {
  const { live, http, purge } = service;
  const { contest, commerce, purchases } = http;
  const collection: Record<string, RecurringJob> =
    live === null
      ? {}
      : {
          prices: { cron: '* * * * *', run: live.collectPrices },
          collect: { cron: '* * * * *', run: live.collect },
          history: { cron: '*/15 * * * *', run: live.completeHistory },
        };
  return {
    ...collection,
    // Rounds that waited for a price or a forecast continue within minutes.
    contest: { cron: '*/15 * * * *', run: async () => void (await contest.run()) },
    // Payments whose process died before it responded.
    payments: {
      cron: '* * * * *',
      run: async () => {
        await commerce.sales.sweep();
        await purchases.sweep();
      },
    },
    // Feedback of clients in the reputation registry.
    feedback: { cron: '*/5 * * * *', run: http.clientFeedback.collect },
    // Not every database engine deletes expired documents.
    housekeeping: { cron: '17 * * * *', run: purge },
  };
}
