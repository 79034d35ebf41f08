import type { Db } from 'mongodb';
import type { Address } from 'viem';
import type { z } from 'zod';
import { SKILLS } from '../../skills/index.ts';
import type { Chain } from '../chain/client.ts';
import { readWalletFunds, type WalletFunds } from '../chain/contracts.ts';
import type { Journal, OpenTransactions } from '../chain/journal.ts';
import { chainCall, withChainTimeout } from '../chain/rpc.ts';
import type { Wallet, WalletRole } from '../chain/wallet.ts';
import type { Revenue } from '../commerce/ledger.ts';
import { PAYMENT_INTERFACES, PAYMENT_STEPS, PaymentClaimStore, type PaymentInterface, type PaymentStep } from '../commerce/x402/claims.ts';
import { orElse } from '../errors.ts';
import type { PushedName } from '../events/events.ts';
import { type DeliveryAttempt, DeliveryQueue, type QueueBacklog, type WebhookDeliveryDoc } from '../events/webhooks/delivery-queue.ts';
import { DAY_MS, type Day, toDay } from '../forecast/day.ts';
import type { ServiceStatus } from '../http/schemas/health.ts';
import type { ShareUse } from '../http/sockets.ts';
import type { HandledMessage } from '../mcp/protocol.ts';
import { findLastBackupAt } from '../platform/backup.ts';
import { createCache } from '../platform/concurrency.ts';
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

interface Sample {
  labels?: Readonly<Record<string, string>>;
  value: number;
}

/** A gauge. Its help states the unit; no value may depend on an unrevealed forecast. */
export interface MetricDefinition<Snapshot> {
  name: `oracle_${string}`;
  help: string;
  labels?: readonly string[];
  read(snapshot: Snapshot): readonly Sample[];
}

export type StateMetric = MetricDefinition<StateSnapshot>;
type ProcessMetric = MetricDefinition<ProcessSnapshot>;

const one = (value: number): Sample[] => [{ value }];

const flag = (isSet: boolean): number => (isSet ? 1 : 0);

/** No sample where the value is unknown: a zero would be a measurement. */
function known<Value>(value: Value | null, toSamples: (value: Value) => readonly Sample[]): readonly Sample[] {
  return value === null ? [] : toSamples(value);
}

/** A sample for each entry of a record, under the name of its key. */
function byKey(label: string, values: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(values).map(([key, value]) => ({ labels: { [label]: key }, value }));
}

const secondsSince = (time: string, nowMs: number): number => (nowMs - Date.parse(time)) / 1_000;

/** 0 without an instant: nothing waits. */
function secondsOverdue(since: Date | null, nowMs: number): number {
  return since === null ? 0 : Math.max(0, (nowMs - since.getTime()) / 1_000);
}

/** What is under way and has not ended, as counts and times alone. */
interface OpenWork {
  transactions: readonly OpenTransactions[];
  /** Without those of wagers. */
  deliveries: QueueBacklog;
  /** When the oldest open payment was opened; null without one. */
  oldestPayment: Date | null;
  databasePingMs: number;
  /** When the oldest change was written that the event log does not have yet; null without one. */
  oldestUnpublished: Date | null;
  /** When the newest verified backup was finished; null without one. */
  lastBackup: Date | null;
}

export interface OpenWorkDeps {
  db: Db;
  journal: Pick<Journal, 'countOpen'>;
  chainId: number;
  record: Pick<ForecastRecord, 'days' | 'forecasts'>;
}

/** Reads by indexes on what is open: the length of the record does not matter. */
export async function readOpenWork({ db, journal, chainId, record }: OpenWorkDeps, now: Date): Promise<OpenWork> {
  const [transactions, deliveries, oldestPayment, databasePingMs, oldestUnpublished, lastBackup] = await Promise.all([
    journal.countOpen(chainId),
    new DeliveryQueue(db).readBacklog(now, { except: UNCOUNTED_EVENTS }),
    new PaymentClaimStore(db).findOldestOpen(),
    measurePing(db),
    findOldestChange(record),
    findLastBackupAt(db),
  ]);
  return { transactions, deliveries, oldestPayment, databasePingMs, oldestUnpublished, lastBackup };
}

/** Changes of wagers are left out: without a minimum stake, that there is one says that the model saw an edge. */
async function findOldestChange({ days, forecasts }: OpenWorkDeps['record']): Promise<Date | null> {
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

export interface WalletFiguresDeps {
  db: Db;
  chain: Chain;
  journal: Pick<Journal, 'findHighestNonce'>;
  wallets: Readonly<Record<string, Pick<Wallet, 'role' | 'address'> | null>>;
  now(): Date;
}

const READ_TIMEOUT_MS = 3_000;

/** Figures of the wallets, at most a minute old; null while the chain does not answer. */
export function createWalletFigures(deps: WalletFiguresDeps): () => Promise<WalletFigures | null> {
  const cache = createCache<WalletFigures>('wallet-figures', 1);
  return () => cache.get(Math.floor(deps.now().getTime() / 60_000), () => readWalletFigures(deps)).catch(orElse('CHAIN_UNREACHABLE', null));
}

async function readWalletFigures({ db, chain, journal, wallets, now }: WalletFiguresDeps): Promise<WalletFigures> {
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
 * Lines of the log that the runbook quotes and that are counted by their text. Lines of wagers are not: without a minimum stake, that there
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
export const PROCESS_METRICS: readonly ProcessMetric[] = [
  {
    name: 'oracle_log_lines_total',
    help: 'Lines of the log since the start of the process, by level.',
    labels: ['level'],
    read: ({ log }) => byKey('level', log.levels),
  },
  {
    name: 'oracle_log_messages_total',
    help: 'Lines of the log since the start of the process, by message, of those that the runbook quotes.',
    labels: ['message'],
    read: ({ log }) => byKey('message', log.messages),
  },
  {
    name: 'oracle_mcp_messages_total',
    help: 'MCP messages that this process handled, by method, tool of a call, and result; "(other)" is what no method or tool is called.',
    labels: ['method', 'tool', 'result'],
    read: ({ work }) =>
      work.mcp.flatMap(({ method, tool, ok, error }) =>
        byKey('result', { ok, error }).map(({ labels, value }) => ({ labels: { method, tool, ...labels }, value })),
      ),
  },
  {
    name: 'oracle_payment_terms_total',
    help: 'x402 payment requirements that this process sent to clients without a payment, by interface.',
    labels: ['interface'],
    read: ({ work }) => byInterface(work.payments, ({ terms }) => one(terms)),
  },
  {
    name: 'oracle_payments_begun_total',
    help: 'x402 payments that this process was sent, by interface.',
    labels: ['interface'],
    read: ({ work }) => byInterface(work.payments, ({ begun }) => one(begun)),
  },
  {
    name: 'oracle_payments_total',
    help: 'The same by outcome: accepted ones are settled, or repeated with their answer.',
    labels: ['interface', 'outcome'],
    read: ({ work }) => byInterface(work.payments, ({ terms: _, begun: __, ...outcomes }) => byKey('outcome', outcomes)),
  },
  {
    name: 'oracle_delivery_attempts_total',
    help: 'Attempts of webhook deliveries by this process, those of wagers left out, by result.',
    labels: ['result'],
    read: ({ work }) => byKey('result', work.deliveryAttempts),
  },
  {
    name: 'oracle_requests_running',
    help: 'Requests that are worked on.',
    read: ({ requests }) => one(requests.running),
  },
  {
    name: 'oracle_requests_waiting',
    help: 'Requests that wait for admission.',
    read: ({ requests }) => one(requests.waiting),
  },
  {
    name: 'oracle_requests_limit',
    help: 'Requests that may be worked on at a time; it follows the queueing delay.',
    read: ({ requests }) => one(requests.limit),
  },
  {
    name: 'oracle_queueing_delay_seconds',
    help: 'Newest sample of how long work waits for event loop and database.',
    read: ({ requests }) => one(requests.delayMs / 1_000),
  },
  {
    name: 'oracle_connections',
    help: 'Connections, and requests under way of trusted proxies, by the share that they use: the general one, or a reserve.',
    labels: ['share'],
    read: ({ connections }) => known(connections, ({ shares }) => shares.map(({ share, used }) => ({ labels: { share }, value: used }))),
  },
  {
    name: 'oracle_connections_limit',
    help: 'Size of the share.',
    labels: ['share'],
    read: ({ connections }) => known(connections, ({ shares }) => shares.map(({ share, limit }) => ({ labels: { share }, value: limit }))),
  },
  {
    name: 'oracle_websockets',
    help: 'Open WebSocket connections.',
    read: ({ connections }) => known(connections, ({ webSockets }) => one(webSockets)),
  },
];

function byInterface(
  payments: Record<PaymentInterface, Record<PaymentStep, number>>,
  read: (steps: Record<PaymentStep, number>) => readonly Sample[],
): Sample[] {
  return Object.entries(payments).flatMap(([over, steps]) =>
    read(steps).map(({ labels, value }) => ({ labels: { interface: over, ...labels }, value })),
  );
}

export const RECORD_METRICS: readonly StateMetric[] = [
  { name: 'oracle_record_days', help: 'Days of the record, missed ones included.', read: ({ status }) => one(status.record.days) },
  {
    name: 'oracle_record_age_days',
    help: 'Days since the last day of the record: 0 once the forecast of today is made.',
    read: ({ status, nowMs }) => known(status.record.lastDay, (day) => one(toDay(nowMs) - toDay(Date.parse(day)))),
  },
  {
    name: 'oracle_attested_age_days',
    help: 'Days since the newest day whose forecasts are attested: 0 once those of today are on chain.',
    read: ({ attestedDay, nowMs }) => known(attestedDay, (day) => one(toDay(nowMs) - day)),
  },
  {
    name: 'oracle_forecasts',
    help: 'Forecasts by public status. Those that are not revealed are PENDING, whatever their outcome.',
    labels: ['status'],
    read: ({ status }) => Object.entries(status.record.forecasts).map(([name, value]) => ({ labels: { status: name }, value })),
  },
  {
    name: 'oracle_wagering_on',
    help: '1 while new wagers are enabled by settings and operator.',
    read: ({ status }) => one(flag(status.wagering.on)),
  },
];

export const SELF_TEST_METRICS: readonly StateMetric[] = [
  {
    name: 'oracle_self_test_failed',
    help: '1 while the newest run of the self-test has failed.',
    labels: ['test'],
    read: ({ selfTests }) => selfTests.map(({ test, state }) => ({ labels: { test }, value: flag(state === 'failed') })),
  },
  {
    name: 'oracle_self_test_overdue',
    help: '1 while the self-test has no result of its last due day.',
    labels: ['test'],
    read: ({ selfTests }) => selfTests.map(({ test, overdue }) => ({ labels: { test }, value: flag(overdue) })),
  },
];

const WEI_PER_GWEI = 1e9;
const WEI_PER_ETHER = 1e18;

function perWallet(name: StateMetric['name'], help: string, read: (wallet: WalletState) => number | null): StateMetric {
  return {
    name,
    help,
    labels: ['role'],
    read: ({ wallets }) =>
      known(wallets, ({ roles }) =>
        roles.flatMap((wallet) => known(read(wallet), (value): Sample[] => [{ labels: { role: wallet.role }, value }])),
      ),
  };
}

export const CHAIN_METRICS: readonly StateMetric[] = [
  { name: 'oracle_chain_up', help: '1 when the chain answers.', read: ({ status }) => one(flag(status.chain.error === null)) },
  {
    name: 'oracle_chain_block_number',
    help: 'Number of the newest block.',
    read: ({ status }) => known(status.chain.blockNumber, one),
  },
  {
    name: 'oracle_chain_block_age_seconds',
    help: 'Seconds since the newest block.',
    read: ({ status, nowMs }) => known(status.chain.blockTime, (time) => one(secondsSince(time, nowMs))),
  },
  {
    name: 'oracle_gas_price_gwei',
    help: 'Price of gas as the node suggests it, gwei; at most a minute old.',
    read: ({ wallets }) => known(wallets, ({ gasPriceWei }) => one(Number(gasPriceWei) / WEI_PER_GWEI)),
  },
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
  {
    name: 'oracle_transactions_open',
    help: 'Transactions that are signed and not final.',
    labels: ['role'],
    read: ({ work }) => work.transactions.map(({ role, count }) => ({ labels: { role }, value: count })),
  },
  {
    name: 'oracle_transaction_oldest_open_seconds',
    help: 'Seconds since the oldest transaction that is not final was signed.',
    labels: ['role'],
    read: ({ work, nowMs }) => work.transactions.map(({ role, since }) => ({ labels: { role }, value: (nowMs - since.getTime()) / 1_000 })),
  },
];

/** Work that waits, and what was sold. */
export const WORK_METRICS: readonly StateMetric[] = [
  {
    name: 'oracle_database_ping_seconds',
    help: 'Time of a command that does nothing, over the connections of all requests.',
    read: ({ work }) => one(work.databasePingMs / 1_000),
  },
  {
    name: 'oracle_deliveries_pending',
    help: 'Webhook deliveries in the queues, those of wagers left out.',
    read: ({ work }) => one(work.deliveries.pending),
  },
  {
    name: 'oracle_delivery_overdue_seconds',
    help: 'Seconds that the most overdue webhook delivery waits, those of wagers left out; 0 without one.',
    read: ({ work, nowMs }) => one(secondsOverdue(work.deliveries.oldestDueAt, nowMs)),
  },
  {
    name: 'oracle_payment_unsettled_seconds',
    help: 'Seconds since the oldest payment that is neither settled nor released; 0 without one.',
    read: ({ work, nowMs }) => one(secondsOverdue(work.oldestPayment, nowMs)),
  },
  {
    name: 'oracle_event_log_lag_seconds',
    help: 'Seconds since the oldest change of the record that the event log does not have; 0 without one.',
    read: ({ work, nowMs }) => one(secondsOverdue(work.oldestUnpublished, nowMs)),
  },
  {
    name: 'oracle_backup_age_seconds',
    help: 'Seconds since the newest backup was written and read back; no sample before the first.',
    read: ({ work, nowMs }) => known(work.lastBackup, (at) => one((nowMs - at.getTime()) / 1_000)),
  },
  {
    name: 'oracle_sales',
    help: 'Paid calls of the ledger by channel.',
    labels: ['channel'],
    read: ({ sales }) => sales.map(({ channel, payments }) => ({ labels: { channel }, value: payments })),
  },
  {
    name: 'oracle_sales_usd',
    help: 'Amount of the paid calls, dollars of the stablecoin.',
    labels: ['channel'],
    read: ({ sales }) => sales.map(({ channel, amountMicros }) => ({ labels: { channel }, value: Number(amountMicros) / 1e6 })),
  },
  {
    name: 'oracle_settlement_cost_usd',
    help: 'What one settlement of an x402 payment costs now, dollars: gas, or the fee of the hosted facilitator; no sample while it is not known.',
    read: ({ status }) => known(status.settlement.costMicros, (micros) => one(micros / 1e6)),
  },
  {
    name: 'oracle_settlement_margin_usd',
    help: 'Price less the cost of a settlement, dollars; below 0 a sale costs more than it brings.',
    labels: ['offering'],
    read: ({ status }) =>
      status.settlement.margins.flatMap(({ offering, marginMicros }) =>
        known(marginMicros, (micros): Sample[] => [{ labels: { offering }, value: micros / 1e6 }]),
      ),
  },
];

export const MARKET_METRICS: readonly StateMetric[] = [
  {
    name: 'oracle_series_stale',
    help: '1 while the series is missing or too old.',
    labels: ['series'],
    read: ({ status }) => status.market.series.map(({ series, stale }) => ({ labels: { series }, value: flag(stale) })),
  },
  {
    name: 'oracle_series_age_days',
    help: 'Days since the last observation of the series.',
    labels: ['series'],
    read: ({ status }) =>
      status.market.series.flatMap(({ series, ageDays }) => known(ageDays, (value): Sample[] => [{ labels: { series }, value }])),
  },
  {
    name: 'oracle_provider_circuit_open',
    help: '1 while the provider is suspended after failures.',
    labels: ['provider'],
    read: ({ status }) =>
      status.market.providers.map(({ provider, circuit }) => ({ labels: { provider }, value: flag(circuit === 'open') })),
  },
  ...(['calls', 'failures'] as const).map(
    (count): StateMetric => ({
      name: `oracle_provider_${count}`,
      help: `${count === 'calls' ? 'Calls' : 'Calls that failed after retries'} since the start of the process that polls.`,
      labels: ['provider'],
      read: ({ status }) => status.market.providers.map((one) => ({ labels: { provider: one.provider }, value: one[count] })),
    }),
  ),
  {
    name: 'oracle_provider_clock_skew_seconds',
    help: 'Clock of the provider less that of the service, to the second.',
    labels: ['provider'],
    read: ({ status }) =>
      status.market.providers.flatMap(({ provider, clockSkewMs }) =>
        known(clockSkewMs, (ms): Sample[] => [{ labels: { provider }, value: ms / 1_000 }]),
      ),
  },
];

type Run = StateSnapshot['status']['steps'][number];

function perStep(name: StateMetric['name'], help: string, read: (run: Run, nowMs: number) => number): StateMetric {
  return {
    name,
    help,
    labels: ['step'],
    read: ({ status, nowMs }) => status.steps.map((run): Sample => ({ labels: { step: run.step }, value: read(run, nowMs) })),
  };
}

/** Steps of wagers are not in the public status. */
export const PIPELINE_METRICS: readonly StateMetric[] = [
  perStep('oracle_step_waiting', '1 while the latest run of the step is waiting.', ({ state }) => flag(state === 'waiting')),
  perStep('oracle_step_failed', '1 while the latest run of the step is failed.', ({ state }) => flag(state === 'failed')),
  perStep('oracle_step_age_seconds', 'Seconds since the latest run of the step.', ({ ranAt }, nowMs) => secondsSince(ranAt, nowMs)),
  perStep('oracle_step_attempts', 'Attempts of the step for the day of its latest run.', ({ attempts }) => attempts),
  {
    name: 'oracle_job_next_run_seconds',
    help: 'Seconds until the next run of the job; below zero it is overdue.',
    // `job` is the scraper's own label.
    labels: ['task'],
    read: ({ status, nowMs }) =>
      status.schedule.flatMap(({ job, nextRunAt }) =>
        known(nextRunAt, (at) => [{ labels: { task: job }, value: -secondsSince(at, nowMs) }]),
      ),
  },
  {
    name: 'oracle_window_opens_seconds',
    help: 'Seconds until the next outcome window opens, at 00:00 UTC.',
    read: ({ nowMs }) => one((DAY_MS - (nowMs % DAY_MS)) / 1_000),
  },
];

export const SERVICE_METRICS: readonly StateMetric[] = [
  {
    name: 'oracle_info',
    help: 'Always 1; the labels describe the process.',
    labels: ['version', 'role', 'market', 'chain_id'],
    read: ({ status: { version, role, market, chain } }) => [
      { labels: { version, role, market: market.kind, chain_id: String(chain.chainId) }, value: 1 },
    ],
  },
  { name: 'oracle_ready', help: '1 when every readiness check is met.', read: ({ status }) => one(flag(status.ready)) },
  {
    name: 'oracle_check_ok',
    help: '1 when this readiness check is met.',
    labels: ['check'],
    read: ({ status }) => status.checks.map(({ name, ok }) => ({ labels: { check: name }, value: flag(ok) })),
  },
];
