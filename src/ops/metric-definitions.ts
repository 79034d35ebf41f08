import type { Db } from 'mongodb';
import type { z } from 'zod';
import { SKILLS } from '../../skills/index.ts';
import type { WalletFunds } from '../chain/contracts.ts';
import type { OpenTransactions } from '../chain/journal.ts';
import type { WalletRole } from '../chain/wallet.ts';
import type { Revenue } from '../commerce/ledger.ts';
import { PAYMENT_INTERFACES, PAYMENT_STEPS, PaymentClaimStore, type PaymentInterface, type PaymentStep } from '../commerce/x402/claims.ts';
import type { Context } from '../context.ts';
import type { PushedName } from '../events/events.ts';
import type { DeliveryAttempt } from '../events/webhooks/call.ts';
import { DeliveryQueue, type WebhookDeliveryDoc } from '../events/webhooks/queue.ts';
import { DAY_MS, type Day, toDay } from '../forecast/day.ts';
import type { ServiceStatus } from '../http/schemas/health.ts';
import type { ShareUse } from '../http/sockets.ts';
import type { HandledMessage } from '../mcp/protocol.ts';
import { findLastBackupAt } from '../platform/backup.ts';
import type { LogCounts } from '../platform/log.ts';
import { findOldestUnpublished } from '../platform/mongo.ts';
import type { ForecastRecord } from '../record/forecasts.ts';
import type { SELF_TEST_STATUS } from '../record/schemas/self-tests.ts';

/** State of the service, which every process reads from database and chain. */
export interface StateSnapshot {
  status: ServiceStatus;
  work: OpenWork;
  /** Newest day whose forecasts are attested; null before the first. */
  attestedDay: Day | null;
  selfTests: readonly Pick<z.input<typeof SELF_TEST_STATUS>, 'test' | 'state' | 'overdue'>[];
  sales: Revenue['byChannel'];
  /** Null when the chain does not answer. */
  wallets: WalletFigures | null;
  nowMs: number;
}

/** State of this process, which is in its memory. */
export interface ProcessSnapshot {
  log: LogCounts;
  work: WorkCounts;
  requests: { running: number; waiting: number; limit: number; delayMs: number };
  /** Null until the process serves requests. */
  connections: Connections | null;
}

export interface Connections {
  shares: readonly ShareUse[];
  webSockets: number;
}

type StateMetric = MetricDefinition<StateSnapshot>;

interface Sample {
  labels?: Readonly<Record<string, string>> | undefined;
  value: number;
}

/** A gauge. Its help states the unit; no value may depend on an unrevealed forecast. */
export interface MetricDefinition<Snapshot> {
  name: MetricName;
  help: string;
  labels?: readonly string[];
  read(snapshot: Snapshot): readonly Sample[];
}

type MetricName = `oracle_${string}`;
/** Null, and any other missing number: the value is unknown, and without a sample, since a zero would be a measurement. */
type Value = number | null | undefined;

/** A gauge without labels. */
function gauge<Snapshot>(name: MetricName, help: string, read: (snapshot: Snapshot) => Value): MetricDefinition<Snapshot> {
  return { name, help, read: (snapshot) => toSamples(read(snapshot)) };
}

/** A gauge with a sample for each value of a label. */
function gaugeBy<Snapshot>(
  label: string,
  name: MetricName,
  help: string,
  read: (snapshot: Snapshot) => readonly (readonly [label: string, value: Value])[] | undefined,
): MetricDefinition<Snapshot> {
  const readSamples = (snapshot: Snapshot) => (read(snapshot) ?? []).flatMap(([key, value]) => toSamples(value, { [label]: key }));
  return { name, help, labels: [label], read: readSamples };
}

function toSamples(value: Value, labels?: Sample['labels']): Sample[] {
  return value === null || value === undefined ? [] : [{ labels, value }];
}

const flag = (isSet: boolean): number => (isSet ? 1 : 0);

const secondsSince = (time: string, nowMs: number): number => (nowMs - Date.parse(time)) / 1_000;

/** 0 without an instant: nothing waits. */
function secondsOverdue(since: Date | null, nowMs: number): number {
  return since === null ? 0 : Math.max(0, (nowMs - since.getTime()) / 1_000);
}

/** What is under way and has not ended, as counts and times alone. */
interface OpenWork {
  transactions: readonly OpenTransactions[];
  /** Without those of wagers. */
  deliveries: Awaited<ReturnType<DeliveryQueue['readBacklog']>>;
  /** When the oldest open payment was opened; null without one. */
  oldestPayment: Date | null;
  databasePingMs: number;
  /** When the oldest change was written that the event log does not have yet; null without one. */
  oldestUnpublished: Date | null;
  /** When the newest verified backup was finished; null without one. */
  lastBackup: Date | null;
}

/** Reads by indexes on what is open: the length of the record does not matter. */
export async function readOpenWork({ chain, db, journal, record }: Context, now: Date): Promise<OpenWork> {
  const [transactions, deliveries, oldestPayment, databasePingMs, oldestUnpublished, lastBackup] = await Promise.all([
    journal.countOpen(chain.chainId),
    new DeliveryQueue(db).readBacklog(now, { except: UNCOUNTED_EVENTS }),
    new PaymentClaimStore(db).findOldestOpen(),
    measurePing(db),
    findOldestChange(record),
    findLastBackupAt(db),
  ]);
  return { transactions, deliveries, oldestPayment, databasePingMs, oldestUnpublished, lastBackup };
}

/** Changes of wagers are left out: without a minimum stake, that there is one says that the model saw an edge. */
async function findOldestChange({ days, forecasts }: ForecastRecord): Promise<Date | null> {
  const times = await Promise.all([findOldestUnpublished(days), findOldestUnpublished(forecasts)]);
  const known = times.flatMap((at) => (at === null ? [] : [at.getTime()]));
  return known.length === 0 ? null : new Date(Math.min(...known));
}

async function measurePing(db: Db): Promise<number> {
  const startedAtMs = performance.now();
  await db.command({ ping: 1 });
  return performance.now() - startedAtMs;
}

/** Without a minimum stake, a wager says that the model saw an edge, before the forecast of its day is revealed. */
const UNCOUNTED_EVENTS: readonly PushedName[] = ['wager.placed', 'wager.settled'];

interface WalletState extends Pick<WalletFunds<WalletRole>, 'role' | 'balanceWei' | 'daysLeft'> {
  /** Of the next transaction by the newest block. */
  minedNonce: number;
  /** After the newest one in the journal; null where the service has signed none. */
  signedNonce: number | null;
}

export interface WalletFigures {
  gasPriceWei: bigint;
  /** Also the facilitator, whose address is not public. */
  roles: readonly WalletState[];
}

/** Counts of a process since its start. */
export interface WorkCounts {
  payments: Record<PaymentInterface, Record<PaymentStep, number>>;
  /** By method, or by the tool of a call. */
  mcp: readonly McpCount[];
  deliveryAttempts: { delivered: number; failed: number };
}

interface McpCount {
  method: string;
  tool: string;
  ok: number;
  error: number;
}

/** Label of methods and tools that only a client names. */
const OTHER = '(other)';

const MCP_METHODS = [
  ...['initialize', 'server/discover', 'ping', 'tools/list', 'prompts/list', 'prompts/get', 'completion/complete'],
  ...['resources/list', 'resources/templates/list', 'resources/read', 'skills/list', 'skills/get', OTHER],
];

export function createWorkCounts(): WorkCounts {
  const toZeros = () => Object.fromEntries(PAYMENT_STEPS.map((step) => [step, 0])) as Record<PaymentStep, number>;
  const payments = Object.fromEntries(PAYMENT_INTERFACES.map((over) => [over, toZeros()])) as WorkCounts['payments'];
  const none = { ok: 0, error: 0 };
  const mcp = [
    ...MCP_METHODS.map((method) => ({ method, tool: '', ...none })),
    ...[...SKILLS.map(({ id }) => id), OTHER].map((tool) => ({ method: 'tools/call', tool, ...none })),
  ];
  return { payments, mcp, deliveryAttempts: { delivered: 0, failed: 0 } };
}

export function countPayment({ payments }: WorkCounts, over: PaymentInterface, step: PaymentStep): void {
  payments[over][step] += 1;
}

export function countMcpMessage({ mcp }: WorkCounts, { method, tool, isError }: HandledMessage): void {
  const rows = mcp.filter((row) => (row.tool === '') === (tool === undefined));
  const find = (label: string) => rows.find((row) => (row.tool || row.method) === label);
  const row = find(tool ?? method) ?? find(OTHER)!;
  row[isError ? 'error' : 'ok'] += 1;
}

export function countDeliveryAttempt(
  { deliveryAttempts }: WorkCounts,
  { type }: Pick<WebhookDeliveryDoc, 'type'>,
  { reason }: Pick<DeliveryAttempt, 'reason'>,
): void {
  if (UNCOUNTED_EVENTS.some((name) => name === type)) return;
  deliveryAttempts[reason === null ? 'delivered' : 'failed'] += 1;
}

/**
 * Lines of the log that the runbook quotes or the dashboard shows, counted by their text. Lines of wagers are not: without a minimum stake, that there
 * is one says that the model saw an edge.
 */
export const WATCHED_MESSAGES = [
  'market history is incomplete: asking again later',
  'a payment could not be checked or sent',
  'what became of a payment is not known yet',
  'job failed',
  'a purchase cannot be delivered yet',
  'a job of the agent commerce contract cannot go on; it is tried again',
  'the agent commerce contract has not paid a job without an evaluator; no further one is accepted',
  'the marketplace does not take a delivery; it is tried again',
  'a webhook was disabled',
  'a webhook is suspended: its wallet has lost the Basic tier',
  'the secret of a webhook does not open: nothing is sent to it',
  'a task notification was not delivered',
  'the database does not count requests: each process limits for itself',
  'X-Forwarded-For is present but not trusted: behind a proxy, set TRUST_PROXY',
  'credentials of the operator refused',
  'publishing changes failed: it will be retried',
  'events could not be read or passed on: trying again',
] as const;

/** What this process does; readable while the database does not answer. */
export const PROCESS_METRICS: readonly MetricDefinition<ProcessSnapshot>[] = [
  gaugeBy('level', 'oracle_log_lines_total', 'Lines of the log since the start of the process, by level.', ({ log }) =>
    Object.entries(log.levels),
  ),
  gaugeBy(
    'message',
    'oracle_log_messages_total',
    'Lines of the log since the start of the process, by message, of those that the runbook quotes.',
    ({ log }) => Object.entries(log.messages),
  ),
  {
    name: 'oracle_mcp_messages_total',
    help: 'MCP messages that this process handled, by method, tool of a call, and result; "(other)" is what no method or tool is called.',
    labels: ['method', 'tool', 'result'],
    read: ({ work }) =>
      work.mcp.flatMap(({ method, tool, ok, error }) =>
        Object.entries({ ok, error }).map(([result, value]) => ({ labels: { method, tool, result }, value })),
      ),
  },
  gaugeBy(
    'interface',
    'oracle_payment_terms_total',
    'x402 payment requirements that this process sent to clients without a payment, by interface.',
    ({ work }) => PAYMENT_INTERFACES.map((over) => [over, work.payments[over].terms]),
  ),
  gaugeBy('interface', 'oracle_payments_begun_total', 'x402 payments that this process was sent, by interface.', ({ work }) =>
    PAYMENT_INTERFACES.map((over) => [over, work.payments[over].begun]),
  ),
  {
    name: 'oracle_payments_total',
    help: 'The same by outcome: accepted ones are settled, or repeated with their answer.',
    labels: ['interface', 'outcome'],
    read: ({ work }) =>
      PAYMENT_INTERFACES.flatMap((over) => {
        const { terms: _, begun: __, ...outcomes } = work.payments[over];
        return Object.entries(outcomes).map(([outcome, value]) => ({ labels: { interface: over, outcome }, value }));
      }),
  },
  gaugeBy(
    'result',
    'oracle_delivery_attempts_total',
    'Attempts of webhook deliveries by this process, those of wagers left out, by result.',
    ({ work }) => Object.entries(work.deliveryAttempts),
  ),
  gauge('oracle_requests_running', 'Requests that are worked on.', ({ requests }) => requests.running),
  gauge('oracle_requests_waiting', 'Requests that wait for admission.', ({ requests }) => requests.waiting),
  gauge(
    'oracle_requests_limit',
    'Requests that may be worked on at a time; it follows the queueing delay.',
    ({ requests }) => requests.limit,
  ),
  gauge(
    'oracle_queueing_delay_seconds',
    'Newest sample of how long work waits for event loop and database.',
    ({ requests }) => requests.delayMs / 1_000,
  ),
  gaugeBy(
    'share',
    'oracle_connections',
    'Connections, and requests under way of trusted proxies, by the share that they use: the general one, or a reserve.',
    ({ connections }) => connections?.shares.map(({ share, used }) => [share, used]),
  ),
  gaugeBy('share', 'oracle_connections_limit', 'Size of the share.', ({ connections }) =>
    connections?.shares.map(({ share, limit }) => [share, limit]),
  ),
  gauge('oracle_websockets', 'Open WebSocket connections.', ({ connections }) => connections?.webSockets),
];

const SERVICE_METRICS: readonly StateMetric[] = [
  {
    name: 'oracle_info',
    help: 'Always 1; the labels describe the process.',
    labels: ['version', 'role', 'market', 'chain_id'],
    read: ({ status: { version, role, market, chain } }) => [
      { labels: { version, role, market: market.kind, chain_id: String(chain.chainId) }, value: 1 },
    ],
  },
  gauge('oracle_ready', '1 when every readiness check is met.', ({ status }) => flag(status.ready)),
  gaugeBy('check', 'oracle_check_ok', '1 when this readiness check is met.', ({ status }) =>
    status.checks.map(({ name, ok }) => [name, flag(ok)]),
  ),
];

type Run = StateSnapshot['status']['steps'][number];

function perStep(name: MetricName, help: string, read: (run: Run, nowMs: number) => number): StateMetric {
  return gaugeBy('step', name, help, ({ status, nowMs }) => status.steps.map((run) => [run.step, read(run, nowMs)]));
}

/** Steps of wagers are not in the public status. */
const PIPELINE_METRICS: readonly StateMetric[] = [
  perStep('oracle_step_waiting', '1 while the latest run of the step is waiting.', ({ state }) => flag(state === 'waiting')),
  perStep('oracle_step_failed', '1 while the latest run of the step is failed.', ({ state }) => flag(state === 'failed')),
  perStep('oracle_step_age_seconds', 'Seconds since the latest run of the step.', ({ ranAt }, nowMs) => secondsSince(ranAt, nowMs)),
  perStep('oracle_step_attempts', 'Attempts of the step for the day of its latest run.', ({ attempts }) => attempts),
  // `job` is the scraper's own label.
  gaugeBy('task', 'oracle_job_next_run_seconds', 'Seconds until the next run of the job; below zero it is overdue.', ({ status, nowMs }) =>
    status.schedule.map(({ job, nextRunAt: at }) => [job, at === null ? null : -secondsSince(at, nowMs)]),
  ),
  gauge(
    'oracle_window_opens_seconds',
    'Seconds until the next outcome window opens, at 00:00 UTC.',
    ({ nowMs }) => (DAY_MS - (nowMs % DAY_MS)) / 1_000,
  ),
];

const RECORD_METRICS: readonly StateMetric[] = [
  gauge('oracle_record_days', 'Days of the record, missed ones included.', ({ status }) => status.record.days),
  gauge(
    'oracle_record_age_days',
    'Days since the last day of the record: 0 once the forecast of today is made.',
    ({ status: { record }, nowMs }) => (record.lastDay === null ? null : toDay(nowMs) - toDay(Date.parse(record.lastDay))),
  ),
  gauge(
    'oracle_attested_age_days',
    'Days since the newest day whose forecasts are attested: 0 once those of today are on chain.',
    ({ attestedDay, nowMs }) => (attestedDay === null ? null : toDay(nowMs) - attestedDay),
  ),
  gaugeBy(
    'status',
    'oracle_forecasts',
    'Forecasts by public status. Those that are not revealed are PENDING, whatever their outcome.',
    ({ status }) => Object.entries(status.record.forecasts),
  ),
  gauge('oracle_wagering_on', '1 while new wagers are enabled by settings and operator.', ({ status }) => flag(status.wagering.on)),
];

const SELF_TEST_METRICS: readonly StateMetric[] = [
  gaugeBy('test', 'oracle_self_test_failed', '1 while the newest run of the self-test has failed.', ({ selfTests }) =>
    selfTests.map(({ test, state }) => [test, flag(state === 'failed')]),
  ),
  gaugeBy('test', 'oracle_self_test_overdue', '1 while the self-test has no result of its last due day.', ({ selfTests }) =>
    selfTests.map(({ test, overdue }) => [test, flag(overdue)]),
  ),
];

const WEI_PER_GWEI = 1e9;
const WEI_PER_ETHER = 1e18;

function perWallet(name: MetricName, help: string, read: (wallet: WalletState) => number | null): StateMetric {
  return gaugeBy('role', name, help, ({ wallets }) => wallets?.roles.map((wallet) => [wallet.role, read(wallet)]));
}

const CHAIN_METRICS: readonly StateMetric[] = [
  gauge('oracle_chain_up', '1 when the chain answers.', ({ status }) => flag(status.chain.error === null)),
  gauge('oracle_chain_block_number', 'Number of the newest block.', ({ status }) => status.chain.blockNumber),
  gauge('oracle_chain_block_age_seconds', 'Seconds since the newest block.', ({ status: { chain }, nowMs }) =>
    chain.blockTime === null ? null : secondsSince(chain.blockTime, nowMs),
  ),
  gauge('oracle_gas_price_gwei', 'Price of gas as the node suggests it, gwei; at most a minute old.', ({ wallets }) =>
    wallets === null ? null : Number(wallets.gasPriceWei) / WEI_PER_GWEI,
  ),
  perWallet('oracle_wallet_balance_ether', 'Gas balance of the wallet, ether.', ({ balanceWei }) => Number(balanceWei) / WEI_PER_ETHER),
  perWallet(
    'oracle_wallet_days_left',
    'Whole days that the balance lasts at the mean cost of the last seven days.',
    ({ daysLeft }) => daysLeft,
  ),
  perWallet('oracle_wallet_nonce_mined', 'Nonce of the next transaction by the newest block.', ({ minedNonce }) => minedNonce),
  perWallet(
    'oracle_wallet_nonce_signed',
    'Nonce after the newest transaction that the service has signed; below that of the newest block another program has the key.',
    ({ signedNonce }) => signedNonce,
  ),
  gaugeBy('role', 'oracle_transactions_open', 'Transactions that are signed and not final.', ({ work }) =>
    work.transactions.map(({ role, count }) => [role, count]),
  ),
  gaugeBy(
    'role',
    'oracle_transaction_oldest_open_seconds',
    'Seconds since the oldest transaction that is not final was signed.',
    ({ work, nowMs }) => work.transactions.map(({ role, since }) => [role, (nowMs - since.getTime()) / 1_000]),
  ),
];

const MARKET_METRICS: readonly StateMetric[] = [
  gaugeBy('series', 'oracle_series_stale', '1 while the series is missing or too old.', ({ status: { market } }) =>
    market.series.map(({ series, stale }) => [series, flag(stale)]),
  ),
  gaugeBy('series', 'oracle_series_age_days', 'Days since the last observation of the series.', ({ status: { market } }) =>
    market.series.map(({ series, ageDays }) => [series, ageDays]),
  ),
  gaugeBy('provider', 'oracle_provider_circuit_open', '1 while the provider is suspended after failures.', ({ status: { market } }) =>
    market.providers.map(({ provider, circuit }) => [provider, flag(circuit === 'open')]),
  ),
  gaugeBy('provider', 'oracle_provider_calls', 'Calls since the start of the process that polls.', ({ status: { market } }) =>
    market.providers.map(({ provider, calls }) => [provider, calls]),
  ),
  gaugeBy(
    'provider',
    'oracle_provider_failures',
    'Calls that failed after retries since the start of the process that polls.',
    ({ status: { market } }) => market.providers.map(({ provider, failures }) => [provider, failures]),
  ),
  gaugeBy(
    'provider',
    'oracle_provider_clock_skew_seconds',
    'Clock of the provider less that of the service, to the second.',
    ({ status: { market } }) => market.providers.map(({ provider, clockSkewMs: ms }) => [provider, ms === null ? null : ms / 1_000]),
  ),
];

/** Work that waits, and what was sold. */
const WORK_METRICS: readonly StateMetric[] = [
  gauge(
    'oracle_database_ping_seconds',
    'Time of a command that does nothing, over the connections of all requests.',
    ({ work }) => work.databasePingMs / 1_000,
  ),
  gauge('oracle_deliveries_pending', 'Webhook deliveries in the queues, those of wagers left out.', ({ work }) => work.deliveries.pending),
  gauge(
    'oracle_delivery_overdue_seconds',
    'Seconds that the most overdue webhook delivery waits, those of wagers left out; 0 without one.',
    ({ work, nowMs }) => secondsOverdue(work.deliveries.oldestDueAt, nowMs),
  ),
  gauge(
    'oracle_payment_unsettled_seconds',
    'Seconds since the oldest payment that is neither settled nor released; 0 without one.',
    ({ work, nowMs }) => secondsOverdue(work.oldestPayment, nowMs),
  ),
  gauge(
    'oracle_event_log_lag_seconds',
    'Seconds since the oldest change of the record that the event log does not have; 0 without one.',
    ({ work, nowMs }) => secondsOverdue(work.oldestUnpublished, nowMs),
  ),
  gauge(
    'oracle_backup_age_seconds',
    'Seconds since the newest backup was written and read back; no sample before the first.',
    ({ work, nowMs }) => (work.lastBackup === null ? null : (nowMs - work.lastBackup.getTime()) / 1_000),
  ),
  gaugeBy('channel', 'oracle_sales', 'Paid calls of the ledger by channel.', ({ sales }) =>
    sales.map(({ channel, payments }) => [channel, payments]),
  ),
  gaugeBy('channel', 'oracle_sales_usd', 'Amount of the paid calls, dollars of the stablecoin.', ({ sales }) =>
    sales.map(({ channel, amountMicros }) => [channel, Number(amountMicros) / 1e6]),
  ),
  gauge(
    'oracle_settlement_cost_usd',
    'What one settlement of an x402 payment costs now, dollars: gas, or the fee of the hosted facilitator; no sample while it is not known.',
    ({ status: { settlement } }) => (settlement.costMicros === null ? null : settlement.costMicros / 1e6),
  ),
  gaugeBy(
    'offering',
    'oracle_settlement_margin_usd',
    'Price less the cost of a settlement, dollars; below 0 a sale costs more than it brings.',
    ({ status: { settlement } }) =>
      settlement.margins.map(({ offering, marginMicros: micros }) => [offering, micros === null ? null : micros / 1e6]),
  ),
];

/** Every gauge of the service, beside those of the process, its requests and Node. */
export const STATE_METRICS: readonly StateMetric[] = [
  ...SERVICE_METRICS,
  ...PIPELINE_METRICS,
  ...RECORD_METRICS,
  ...SELF_TEST_METRICS,
  ...CHAIN_METRICS,
  ...MARKET_METRICS,
  ...WORK_METRICS,
];
