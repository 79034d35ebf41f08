import { setTimeout as delay } from 'node:timers/promises';
import { HORIZONS } from '../../forecast/model.ts';
import { catchUp } from '../../pipeline/catch-up.ts';
import { createLiveContext } from '../../pipeline/deps.ts';
import { catchUpSelfTests, prepareSelfTests } from '../../pipeline/self-test/catch-up.ts';
import { formatLocalUrl, getListenHost } from '../../platform/config/config.ts';
import { writeNotice } from '../../platform/startup/startup-notice.ts';
import { createStartupProgress } from '../../platform/startup/startup-progress.ts';
import { withTightHeap } from '../../platform/startup/tight-heap.ts';
import { getPageBundle } from '../../transports/http/page/page-bundle.ts';
import { allRoutes, workerRoutes } from '../../transports/http/routes.ts';
import { createListener, createStartingApp } from '../../transports/http/server/app.ts';
import { createHttpServer, type HttpServer } from '../../transports/http/server/http-server.ts';
import { assembleService } from '../assemble-service.ts';
import { serveWebSocket } from '../events/websocket.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { serveMetrics } from '../metrics/metrics-server.ts';
import type { StartupContext } from '../process-context.ts';
import type { Service } from '../service.ts';
import { buildBanner, printServedInterfaces } from './describe-service.ts';
import { fetchHistory, hasReplayAhead, replayPastDays } from './history.ts';
import { startScheduledJobs } from './scheduled-jobs.ts';
import { createStartRetry } from './start-retry.ts';

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
  progress.replayAhead = await retry(() => hasReplayAhead(service));
  const countWebSockets = await serve(service, server);
  if (listensLate) await server.listen(config.PORT, host);
  // Before anything else stops: a request that is accepted is answered.
  shutdown.setDrain(config.ROLE === 'worker' ? 0 : 1_000 * config.DRAIN_SECONDS, server.stopAccepting);
  service.metrics?.observeConnections(() => ({ shares: server.listUse(), webSockets: countWebSockets() }));
  if (service.metrics !== null) await startMetrics(service, service.metrics);
  printServedInterfaces(service, url);
  await createStopGuard(service)(startPipeline(service));
  // A second process on the same chain announces the service only under a configured address.
  if (config.PUBLIC_URL !== undefined || service.infrastructure.localChain !== null) await retry(() => service.announce());
  progress.complete();
  process.stdout.write(await buildBanner(service, url));
}

/** Returns a function that counts the open WebSocket connections. */
async function serve(service: Service, server: HttpServer): Promise<() => number> {
  const { config, shutdown, http, appOptions, adapters } = service;
  // Stops before the parts that requests in flight need.
  shutdown.onStop('requests under way', () => server.close());
  if (config.ROLE === 'worker') {
    const app = createListener(workerRoutes(http), appOptions);
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
  startJobWatch(service);
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

/** Not a scheduled job: the buyer of a funded job waits, and a minute is long. */
function startJobWatch({ watchJobs, shutdown }: Service): void {
  if (watchJobs === null) return;
  const watching = watchJobs();
  shutdown.onStop('agent commerce', () => watching);
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
