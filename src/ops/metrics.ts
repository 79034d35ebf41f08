import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';
import type { Address } from 'viem';
import { shareWhileInFlight } from '../app/transports.ts';
import type { Chain } from '../chain/client.ts';
import { readWalletFunds } from '../chain/contracts.ts';
import { chainCall, withChainTimeout } from '../chain/rpc.ts';
import { type Ledger, readRevenue } from '../commerce/ledger.ts';
import type { Context } from '../context.ts';
import { OracleError, orElse } from '../errors.ts';
import type { EndedRequest } from '../http/request.ts';
import type { ServiceStatus } from '../http/schemas/health.ts';
import { createCache } from '../platform/concurrency.ts';
import type { LoadShedder } from '../platform/load-shedder.ts';
import type { Log, LogCounts } from '../platform/log.ts';
import { withTimeout } from '../platform/time.ts';
import { findLatestAttestedDay } from '../record/attestations.ts';
import { listSelfTestStatuses, type SelfTestService } from '../record/self-tests.ts';
import {
  type Connections,
  type MetricDefinition,
  PROCESS_METRICS,
  type ProcessSnapshot,
  readOpenWork,
  STATE_METRICS,
  type StateSnapshot,
  type WalletFigures,
  type WorkCounts,
} from './metric-definitions.ts';

export interface Metrics {
  contentType: string;
  observeRequest(ended: EndedRequest): void;
  /** Serves the connections of a server, once there is one. */
  observeConnections(read: () => Connections): void;
  /** The exposition of all series. Readers at the same time share one snapshot. */
  render(): Promise<string>;
}

interface MetricsDeps {
  readState(): Promise<StateSnapshot>;
  readProcess(): Omit<ProcessSnapshot, 'connections'>;
  log: Log;
  stateTimeoutMs?: number;
}

/** Below the 10 seconds that Prometheus waits. */
const STATE_TIMEOUT_MS = 6_000;

/**
 * Series of this process: what it serves, what Node says of it, and the state of the service as every process reads it. Where that cannot
 * be read, its series are left out and the others stay.
 */
export function createMetrics({ readState, readProcess, log, stateTimeoutMs = STATE_TIMEOUT_MS }: MetricsDeps): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const observeRequest = createRequestMetrics(registry);
  const setState = createGauges(registry, STATE_METRICS);
  const setProcess = createGauges(registry, PROCESS_METRICS);
  const readable = new Gauge({
    name: 'oracle_state_readable',
    help: '1 when the state of the service could be read from its database within a few seconds.',
    registers: [registry],
  });
  let wasReadable = true;
  let readConnections: (() => Connections) | null = null;

  async function readStateOrNull(): Promise<StateSnapshot | null> {
    try {
      const late = () => new Error(`The state could not be read within ${stateTimeoutMs} ms`);
      const state = await withTimeout(stateTimeoutMs, readState(), late);
      wasReadable = true;
      return state;
    } catch (error) {
      if (wasReadable) log.error({ err: error }, 'the metrics of the service could not be read: trying again');
      wasReadable = false;
      return null;
    }
  }

  return {
    contentType: registry.contentType,
    observeRequest,
    observeConnections: (read) => {
      readConnections = read;
    },
    render: shareWhileInFlight(async () => {
      const state = await readStateOrNull();
      readable.set(state === null ? 0 : 1);
      setState(state);
      setProcess({ ...readProcess(), connections: readConnections?.() ?? null });
      return registry.metrics();
    }),
  };
}

/** Registers gauges; the returned function sets all of them from a snapshot, and removes them without one. */
function createGauges<Snapshot>(
  registry: Registry,
  definitions: readonly MetricDefinition<Snapshot>[],
): (snapshot: Snapshot | null) => void {
  const gauges = definitions.map(({ name, help, labels = [], read }) => ({
    read,
    gauge: new Gauge({ name, help, labelNames: [...labels], registers: [registry] }),
  }));
  return (snapshot) => {
    for (const { gauge, read } of gauges) {
      const samples = snapshot === null ? [] : read(snapshot);
      // A series that has ended must not keep its last value; one without labels would become 0, which is a measurement.
      gauge.reset();
      if (samples.length === 0) gauge.remove({});
      for (const { labels = {}, value } of samples) gauge.set(labels, value);
    }
  };
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts and times requests by their declared path: as many series as there are operations, whatever clients send. */
function createRequestMetrics(registry: Registry): (ended: EndedRequest) => void {
  const registers = [registry];
  const requests = new Counter({
    name: 'oracle_http_requests_total',
    help: 'Requests that ended, by declared path, status and tier of the caller.',
    labelNames: ['method', 'route', 'status', 'tier'],
    registers,
  });
  const durations = new Histogram({
    name: 'oracle_http_request_seconds',
    help: 'Seconds from the request to the end of its answer, by declared path. Streams last as long as they are open.',
    labelNames: ['method', 'route'],
    buckets: SECONDS,
    registers,
  });
  return ({ method, route, status, tier, ms }) => {
    requests.inc({ method, route, status: String(status), tier });
    durations.observe({ method, route }, ms / 1_000);
  };
}

const MAX_CONNECTIONS = 16;

/** `GET /metrics` on a port of its own, for scrapers of the operator's network. @throws OracleError CONFIG_INVALID naming METRICS_PORT */
export async function serveMetrics(
  { render, contentType }: Pick<Metrics, 'render' | 'contentType'>,
  { port, host, log }: { port: number; host: string; log: Log },
): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer(async ({ method, url }, response) => {
    if (url !== '/metrics' || (method !== 'GET' && method !== 'HEAD')) {
      response.writeHead(404).end();
      return;
    }
    try {
      const text = await render();
      response.writeHead(200, { 'Content-Type': contentType }).end(method === 'HEAD' ? undefined : text);
    } catch (error) {
      log.error({ err: error }, 'the metrics could not be read');
      response.writeHead(503).end();
    }
  });
  server.maxConnections = MAX_CONNECTIONS;
  await bind(server, port, host);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function bind(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const options = { field: 'METRICS_PORT', suggestedAction: 'Set METRICS_PORT to a free port of this machine.', cause };
      reject(new OracleError('CONFIG_INVALID', `Setting METRICS_PORT: ${host}:${port} cannot be bound`, options));
    });
    server.listen(port, host, () => resolve());
  });
}

/** What is measured besides the context. */
interface MeasuredParts {
  selfTests: SelfTestService;
  ledger: Ledger;
  loadShedder: LoadShedder;
  logCounts: LogCounts;
  workCounts: WorkCounts;
  status(): Promise<ServiceStatus>;
}

/** Null unless `METRICS_PORT` is set. */
export async function composeMetrics(context: Context, parts: MeasuredParts): Promise<Metrics | null> {
  if (context.config.METRICS_PORT === undefined) return null;
  const readWallets = createWalletFigures(context);
  const { logCounts, workCounts: work, loadShedder } = parts;
  return createMetrics({
    readState: () => readState(context, parts, readWallets),
    readProcess: () => {
      const { running, waiting, limit, delayMs } = loadShedder;
      return { log: logCounts, work, requests: { running, waiting, limit, delayMs } };
    },
    log: context.log,
  });
}

const READ_TIMEOUT_MS = 3_000;

/** Figures of the wallets, at most a minute old; null while the chain does not answer. */
function createWalletFigures(context: Context): () => Promise<WalletFigures | null> {
  const cache = createCache<WalletFigures>('wallet-figures', 1);
  return () =>
    cache.get(Math.floor(context.now().getTime() / 60_000), () => readWalletFigures(context)).catch(orElse('CHAIN_UNREACHABLE', null));
}

async function readWalletFigures({ db, chain, journal, wallets, now }: Context): Promise<WalletFigures> {
  const present = Object.values(wallets).filter((wallet) => wallet !== null);
  const [funds, mined, gasPriceWei] = await Promise.all([
    readWalletFunds({ db, chain }, present, now()),
    readMinedNonces(chain, present),
    chainCall('Reading the price of gas', () => chain.client.getGasPrice()),
  ]);
  // After the chain: a transaction of the service is in the journal before it can be mined.
  const signed = await Promise.all(present.map(({ address }) => journal.findHighestNonce(chain.chainId, address)));
  const roles = funds.map(({ role, balanceWei, daysLeft }, index) => {
    const highest = signed[index] ?? null;
    return { role, balanceWei, daysLeft, minedNonce: mined[index]!, signedNonce: highest === null ? null : highest + 1 };
  });
  return { gasPriceWei, roles };
}

function readMinedNonces({ client }: Chain, wallets: readonly { address: Address }[]): Promise<number[]> {
  return withChainTimeout(READ_TIMEOUT_MS, 'Reading the nonces', () =>
    Promise.all(
      wallets.map(({ address }) => chainCall('Reading a nonce', () => client.getTransactionCount({ address, blockTag: 'latest' }))),
    ),
  );
}

async function readState(
  context: Context,
  { status, selfTests, ledger }: MeasuredParts,
  readWallets: () => Promise<WalletFigures | null>,
): Promise<StateSnapshot> {
  const now = context.now();
  const [read, work, attestedDay, tests, { byChannel }, wallets] = await Promise.all([
    status(),
    readOpenWork(context, now),
    findLatestAttestedDay(context.record),
    listSelfTestStatuses(selfTests, now),
    readRevenue(ledger, now),
    readWallets(),
  ]);
  return { status: read, work, attestedDay, selfTests: tests, sales: byChannel, wallets, nowMs: now.getTime() };
}
