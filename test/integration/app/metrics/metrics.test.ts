import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  countDeliveryAttempt,
  countPayment,
  createWorkCounts,
  PROCESS_METRICS,
  STATE_METRICS,
  type StateSnapshot,
} from '../../../../src/ops/metric-definitions.ts';
import { composeMetrics, createMetrics, type Metrics, serveMetrics } from '../../../../src/ops/metrics.ts';
import { createLog, createLogCounts } from '../../../../src/platform/log.ts';
import { asTier } from '../../../support/auth/login.ts';
import { serve } from '../../../support/http/serve.ts';
import { PLANTED_SIDES, plant } from '../../../support/record/planted-forecast.ts';
import type { TestService } from '../../../support/service/service.ts';
import { untoldService } from '../../../support/service/unpublished-service.ts';

const METRICS = [...STATE_METRICS, ...PROCESS_METRICS];
const logCounts = createLogCounts(['planted']);
const log = createLog({ level: 'warn', secrets: [], counts: logCounts, write: () => undefined });
const workCounts = createWorkCounts();

/** Series that move with the process and its work, whatever the record holds. */
const MOVING = /^(?:process_|nodejs_|oracle_(?:database_ping_seconds|queueing_delay_seconds|requests_))/;

const IDLE = { log: createLogCounts(), work: workCounts, requests: { running: 0, waiting: 0, limit: 64, delayMs: 0 } };

let service: TestService;
let metrics: Metrics;

beforeAll(async () => {
  service = await untoldService();
  const { http, appOptions } = service;
  const { attester } = http.wallets;
  const context = { ...http, config: { ...http.config, METRICS_PORT: 0 }, log, wallets: { attester, facilitator: null } as never };
  metrics = (await composeMetrics(context, {
    ...{ logCounts, workCounts, selfTests: http.selfTests, ledger: http.commerce.ledger },
    ...{ loadShedder: appOptions.loadShedder!, status: http.status },
  }))!;
});
afterAll(async () => {
  vi.useRealTimers();
  await service?.stop();
});

/** Lines of samples; comments are left out. */
async function readSamples(): Promise<string[]> {
  return (await metrics.render()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

const namesOf = (samples: readonly string[]) => new Set(samples.map((line) => /^\w+/.exec(line)![0]));

it('is not composed without a port', async () => {
  expect(await composeMetrics({ config: {} } as never, {} as never)).toBeNull();
});

it('renders every gauge of a running service, as Prometheus reads it', async () => {
  const samples = await readSamples();
  for (const line of samples)
    expect(line).toMatch(/^[a-z][a-z0-9_]*(?:\{(?:[a-z_]+="[^"\n]*",?)*\})? (?:-?[\d.]+(?:e[+-]?\d+)?|NaN|\+Inf)$/);
  const names = namesOf(samples);
  const live = ['oracle_provider_circuit_open', 'oracle_provider_calls', 'oracle_provider_failures', 'oracle_archive_failures'];
  const served = ['oracle_connections', 'oracle_connections_limit', 'oracle_websockets'];
  // Without a worker's jobs, live providers, backups, open transactions and a server there is nothing to measure.
  const absent = [
    ...live,
    'oracle_provider_clock_skew_seconds',
    ...served,
    'oracle_job_next_run_seconds',
    'oracle_backup_age_seconds',
    'oracle_settlement_cost_usd',
    'oracle_settlement_margin_usd',
    'oracle_transactions_open',
    'oracle_transaction_oldest_open_seconds',
  ];
  expect(METRICS.map(({ name }) => name).filter((name) => !names.has(name) && !absent.includes(name))).toEqual([]);
  expect(METRICS.length).toBeGreaterThanOrEqual(30);
  expect(names).toContain('nodejs_eventloop_lag_seconds');
  expect(samples).toContain('oracle_state_readable 1');
  // A HOLD has no order that could wait, and no bet that could settle.
  expect(samples.filter((line) => line.startsWith('oracle_step_')).join()).not.toMatch(/step="(?:wager|settle)"/);
});

it('has the nonces of a wallet, mined and signed, which agree when nothing is under way', async () => {
  const samples = await readSamples();
  const [mined, signed] = ['mined', 'signed'].map((kind) => {
    const line = samples.find((sample) => sample.startsWith(`oracle_wallet_nonce_${kind}{role="attester"}`));
    return Number(line!.split(' ')[1]);
  });
  expect(mined).toBeGreaterThan(0);
  expect(signed).toBe(mined);
  expect(samples.find((line) => line.startsWith('oracle_gas_price_gwei'))).toMatch(/ \d/);
});

it('has no sample for what is unknown, and none of what has ended', async () => {
  const read = await service.http.status();
  const deliveries = { pending: 0, oldestDueAt: null };
  const work = {
    transactions: [],
    deliveries,
    oldestPayment: null,
    databasePingMs: 1,
    oldestUnpublished: null,
    lastBackup: null,
    oldestTimestamp: null,
  };
  const rest: Omit<StateSnapshot, 'status' | 'nowMs'> = { work, attestedDay: null, selfTests: [], sales: [], wallets: null };
  let status: typeof read = read;
  const readState = async () => ({ ...rest, status, nowMs: service.http.now().getTime() });
  const changing = createMetrics({ readState, readProcess: () => IDLE, log });
  expect(await changing.render()).toMatch(/^oracle_chain_block_number \d+$/m);
  expect(await changing.render()).not.toMatch(/^oracle_settlement_/m);
  const margins = [{ offering: 'x402_signal', priceMicros: 1_000, marginMicros: -1_666 }];
  status = { ...read, settlement: { ...read.settlement, costMicros: 2_666, margins } };
  const known = await changing.render();
  expect(known).toMatch(/^oracle_settlement_cost_usd 0\.002666$/m);
  expect(known).toMatch(/^oracle_settlement_margin_usd\{offering="x402_signal"\} -0\.001666$/m);
  status = { ...read, chain: { ...read.chain, blockNumber: null, error: 'it does not answer' }, steps: [] };
  const text = await changing.render();
  expect(text).not.toMatch(/^oracle_(?:chain_block_number|step_failed)[ {]/m);
  expect(text).toMatch(/^oracle_chain_up 0$/m);
  expect(text).not.toContain('oracle_wallet_balance_ether{');
});

it('keeps the series of the process while the state of the service cannot be read, or not in time', async () => {
  for (const readState of [() => Promise.reject(new Error('no database')), () => new Promise<never>(() => {})]) {
    const blind = createMetrics({ readState, readProcess: () => IDLE, log, stateTimeoutMs: 10 });
    blind.observeConnections(() => ({ shares: [{ share: 'probe', used: 1, limit: 128 }], webSockets: 7 }));
    const text = await blind.render();
    expect(text).toMatch(/^oracle_state_readable 0$/m);
    expect(text).toMatch(/^oracle_requests_limit 64$/m);
    expect(text).toMatch(/^oracle_connections\{share="probe"\} 1$/m);
    expect(text).toMatch(/^oracle_websockets 7$/m);
    expect(text).not.toMatch(/^oracle_ready /m);
  }
});

it('counts lines of the log, and the age of a change that is not published', async () => {
  const before = logCounts.levels.error;
  log.error('planted');
  log.info('planted');
  const { record } = service.pipeline;
  const [day] = await record.days.find().sort({ day: -1 }).limit(1).toArray();
  const at = new Date(service.http.now().getTime() - 60_000);
  await record.days.updateOne({ _id: day!._id }, { $push: { outbox: { change: 'made', at } } });
  try {
    const samples = await readSamples();
    expect(samples).toContain(`oracle_log_lines_total{level="error"} ${before + 1}`);
    expect(samples).toContain('oracle_log_messages_total{message="planted"} 1');
    expect(samples.find((line) => line.startsWith('oracle_event_log_lag_seconds'))).toMatch(/ (?:60|6[1-9])(?:\.\d+)?$/);
  } finally {
    await record.days.updateOne({ _id: day!._id }, { $pull: { outbox: { change: 'made' } } });
  }
  expect(await readSamples()).toContain('oracle_event_log_lag_seconds 0');
});

it('has the same series for a BUY, a SELL and a HOLD', async () => {
  const bySide = [];
  for (const side of PLANTED_SIDES) {
    await plant(service, side);
    bySide.push((await readSamples()).filter((line) => !MOVING.test(line)));
  }
  expect(bySide[0]!.length).toBeGreaterThan(60);
  expect(bySide[1]).toEqual(bySide[0]);
  expect(bySide[2]).toEqual(bySide[0]);
});

it('has the same series with the delivery of a settled wager as without one, which may say that the model saw an edge', async () => {
  const deliveries = service.database.db.collection('webhook_deliveries');
  const due = new Date(service.http.now().getTime() - 600_000);
  const doc = { state: 'PENDING', nextAttemptAt: due, createdAt: due, webhookId: 'planted', cause: 'live', attempts: [] };
  const readStable = async () => (await readSamples()).filter((line) => !MOVING.test(line));
  const before = await readStable();
  try {
    await deliveries.insertOne({ ...doc, position: 1, once: 'planted:1', type: 'wager.settled' });
    countDeliveryAttempt(workCounts, { type: 'wager.settled' }, { reason: null });
    expect(await readStable()).toEqual(before);
    await deliveries.insertOne({ ...doc, position: 2, once: 'planted:2', type: 'signal.new' });
    countDeliveryAttempt(workCounts, { type: 'signal.new' }, { reason: 'no answer' });
    countPayment(workCounts, 'rest', 'rejected');
    const after = await readStable();
    expect(after).toContain('oracle_deliveries_pending 1');
    expect(after).toContain('oracle_delivery_overdue_seconds 600');
    expect(after).toContain('oracle_delivery_attempts_total{result="failed"} 1');
    expect(after).toContain('oracle_payments_total{interface="rest",outcome="rejected"} 1');
  } finally {
    await deliveries.deleteMany({ webhookId: 'planted' });
  }
});

it('counts requests by declared path, status and tier, and answers that are sent again', async () => {
  const { url, close } = await serve({
    ...service,
    appOptions: { ...service.appOptions, limits: undefined, reusesAnswers: true, observeRequest: metrics.observeRequest },
  });
  try {
    const headers = await asTier(service, 'premium');
    await (await fetch(`${url}/api/svc/oracle?horizon=7d`, { headers: headers as Record<string, string> })).text();
    for (let count = 0; count < 3; count++) await (await fetch(`${url}/api/svc/open/signal`)).text();
    await (await fetch(`${url}/nothing/secret-in-a-path`)).text();
    await vi.waitFor(async () => {
      const counted = (await readSamples()).filter((line) => line.startsWith('oracle_http_requests_total'));
      expect(counted).toContain('oracle_http_requests_total{method="GET",route="/api/svc/oracle",status="200",tier="premium"} 1');
      expect(counted).toContain('oracle_http_requests_total{method="GET",route="/api/svc/open/signal",status="200",tier="public"} 3');
      expect(counted).toContain('oracle_http_requests_total{method="GET",route="(none)",status="404",tier="public"} 1');
    });
    expect(await metrics.render()).not.toContain('secret-in-a-path');
  } finally {
    await close();
  }
});

it('is served at one path, and names the setting of a port that is taken', async () => {
  const served = await serveMetrics(metrics, { port: 0, host: '127.0.0.1', log });
  try {
    const base = `http://127.0.0.1:${served.port}`;
    const answer = await fetch(`${base}/metrics`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/plain; version=0.0.4')]);
    expect(await answer.text()).toContain('oracle_info{');
    const wrong = [fetch(`${base}/`), fetch(`${base}/metrics`, { method: 'POST' }), fetch(`${base}/api/status`)];
    expect((await Promise.all(wrong)).map(({ status }) => status)).toEqual([404, 404, 404]);
    await expect(serveMetrics(metrics, { port: served.port, host: '127.0.0.1', log })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      field: 'METRICS_PORT',
    });
  } finally {
    await served.close();
  }
});

it('answers 503 while the service cannot be read', async () => {
  const render = () => Promise.reject(new Error('no database'));
  const served = await serveMetrics({ ...metrics, render }, { port: 0, host: '127.0.0.1', log });
  try {
    expect((await fetch(`http://127.0.0.1:${served.port}/metrics`)).status).toBe(503);
  } finally {
    await served.close();
  }
});
