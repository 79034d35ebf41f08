import { toDay } from '../../forecast/day.ts';
import { flag, known, type MetricDefinition, one, type Sample, secondsSince } from './metric-definition.ts';

const DAY_MS = 86_400_000;
const WEI_DIGITS = 18;

const SERVICE: readonly MetricDefinition[] = [
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

const PIPELINE: readonly MetricDefinition[] = [
  ...(['waiting', 'failed'] as const).map(
    (state): MetricDefinition => ({
      name: `oracle_step_${state}`,
      help: `1 while the latest run of the step is ${state}.`,
      labels: ['step'],
      read: ({ status }) => status.steps.map((run) => ({ labels: { step: run.step }, value: flag(run.state === state) })),
    }),
  ),
  {
    name: 'oracle_step_age_seconds',
    help: 'Seconds since the latest run of the step.',
    labels: ['step'],
    read: ({ status, nowMs }) => status.steps.map(({ step, ranAt }) => ({ labels: { step }, value: secondsSince(ranAt, nowMs) })),
  },
  {
    name: 'oracle_step_attempts',
    help: 'Attempts of the step for the day of its latest run.',
    labels: ['step'],
    read: ({ status }) => status.steps.map(({ step, attempts }) => ({ labels: { step }, value: attempts })),
  },
  {
    name: 'oracle_job_next_run_seconds',
    help: 'Seconds until the next run of the job; below zero it is overdue.',
    labels: ['job'],
    read: ({ status, nowMs }) =>
      status.schedule.flatMap(({ job, nextRunAt }) => known(nextRunAt, (at) => [{ labels: { job }, value: -secondsSince(at, nowMs) }])),
  },
  {
    name: 'oracle_window_opens_seconds',
    help: 'Seconds until the next outcome window opens, at 00:00 UTC.',
    read: ({ nowMs }) => one((DAY_MS - (nowMs % DAY_MS)) / 1_000),
  },
];

const RECORD: readonly MetricDefinition[] = [
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

const SELF_TESTS: readonly MetricDefinition[] = [
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

const CHAIN: readonly MetricDefinition[] = [
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
    name: 'oracle_wallet_balance_ether',
    help: 'Gas balance of the wallet, ether.',
    labels: ['role'],
    read: ({ status }) =>
      known(status.wallets, (wallets) =>
        wallets.map(({ role, balanceWei }) => ({ labels: { role }, value: Number(balanceWei) / 10 ** WEI_DIGITS })),
      ),
  },
  {
    name: 'oracle_wallet_days_left',
    help: 'Whole days that the balance lasts at the mean cost of the last seven days.',
    labels: ['role'],
    read: ({ status }) =>
      known(status.wallets, (wallets) =>
        wallets.flatMap(({ role, daysLeft }) => known(daysLeft, (value): Sample[] => [{ labels: { role }, value }])),
      ),
  },
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

const MARKET: readonly MetricDefinition[] = [
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
    (count): MetricDefinition => ({
      name: `oracle_provider_${count}`,
      help: `${count === 'calls' ? 'Calls' : 'Calls that failed after retries'} since the start of the process that polls.`,
      labels: ['provider'],
      read: ({ status }) => status.market.providers.map((one) => ({ labels: { provider: one.provider }, value: one[count] })),
    }),
  ),
  {
    name: 'oracle_archive_failures',
    help: 'Consecutive failed collections of data for later models.',
    labels: ['series'],
    read: ({ status }) => status.market.archive.map(({ series, failures }) => ({ labels: { series }, value: failures })),
  },
];

const WORK: readonly MetricDefinition[] = [
  {
    name: 'oracle_database_ping_seconds',
    help: 'Time of a command that does nothing, over the connections of all requests.',
    read: ({ work }) => one(work.databasePingMs / 1_000),
  },
  {
    name: 'oracle_delivery_overdue_seconds',
    help: 'Seconds that the most overdue webhook delivery waits; 0 without one.',
    read: ({ work, nowMs }) => one(secondsOverdue(work.oldestDelivery, nowMs)),
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
    name: 'oracle_log_lines_total',
    help: 'Lines of the log since the start of the process, by level.',
    labels: ['level'],
    read: ({ logLines }) => Object.entries(logLines).map(([level, value]) => ({ labels: { level }, value })),
  },
  {
    name: 'oracle_requests_running',
    help: 'Requests that are worked on.',
    read: ({ work }) => one(work.requests.running),
  },
  {
    name: 'oracle_requests_waiting',
    help: 'Requests that wait for admission.',
    read: ({ work }) => one(work.requests.waiting),
  },
  {
    name: 'oracle_requests_limit',
    help: 'Requests that may be worked on at a time; it follows the queueing delay.',
    read: ({ work }) => one(work.requests.limit),
  },
  {
    name: 'oracle_queueing_delay_seconds',
    help: 'Newest sample of how long work waits for event loop and database.',
    read: ({ work }) => one(work.requests.delayMs / 1_000),
  },
];

function secondsOverdue(since: Date | null, nowMs: number): number {
  return since === null ? 0 : Math.max(0, (nowMs - since.getTime()) / 1_000);
}

/** Every gauge of a process, beside its requests and those of Node. */
export const METRICS: readonly MetricDefinition[] = [...SERVICE, ...PIPELINE, ...RECORD, ...SELF_TESTS, ...CHAIN, ...MARKET, ...WORK];
