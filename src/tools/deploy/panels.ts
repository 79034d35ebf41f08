export interface Panel {
  title: string;
  row: 'Record' | 'Traffic' | 'Errors and latency' | 'Saturation' | 'Chain and money' | 'Market' | 'Process';
  /** Grafana's unit. */
  unit: 'short' | 's' | 'reqps' | 'percentunit' | 'bool' | 'bytes' | 'currencyUSD' | 'eth' | 'gwei' | 'd';
  queries: readonly { expr: string; legend: string }[];
}

const definePanels = <Id extends string>(panels: Readonly<Record<Id, Panel>>) => panels;

/** Panels of the dashboard by id, in its order. */
export const PANELS = definePanels({
  window: {
    title: 'Time to the next outcome window',
    row: 'Record',
    unit: 's',
    queries: [{ expr: 'min(oracle_window_opens_seconds)', legend: 'opens in' }],
  },
  attested: {
    title: 'Age of the newest day: forecast, attested',
    row: 'Record',
    unit: 'd',
    queries: [
      { expr: 'max(oracle_record_age_days)', legend: 'forecast' },
      { expr: 'max(oracle_attested_age_days)', legend: 'attested' },
    ],
  },
  timestamps: {
    title: 'Age of the oldest day without a block of Bitcoin',
    row: 'Record',
    unit: 's',
    queries: [{ expr: 'max(oracle_timestamp_pending_seconds)', legend: 'pending' }],
  },
  forecasts: {
    title: 'Forecasts by public status',
    row: 'Record',
    unit: 'short',
    queries: [
      { expr: 'max by (status) (oracle_forecasts)', legend: '{{status}}' },
      { expr: 'max(oracle_record_days)', legend: 'days' },
    ],
  },
  steps: {
    title: 'Steps that wait or have failed',
    row: 'Record',
    unit: 'bool',
    queries: [
      { expr: 'max by (step) (oracle_step_waiting)', legend: '{{step}} waits' },
      { expr: 'max by (step) (oracle_step_failed)', legend: '{{step}} failed' },
      { expr: 'min(oracle_wagering_on)', legend: 'wagering on' },
    ],
  },
  'step-age': {
    title: 'Age of the latest run of a step',
    row: 'Record',
    unit: 's',
    queries: [{ expr: 'min by (step) (oracle_step_age_seconds)', legend: '{{step}}' }],
  },
  attempts: {
    title: 'Attempts of the latest run of a step',
    row: 'Record',
    unit: 'short',
    queries: [{ expr: 'max by (step) (oracle_step_attempts)', legend: '{{step}}' }],
  },
  schedule: {
    title: 'Time to the next run of a job',
    row: 'Record',
    unit: 's',
    queries: [{ expr: 'max by (task) (oracle_job_next_run_seconds)', legend: '{{task}}' }],
  },
  'self-tests': {
    title: 'Self-tests that failed or are overdue',
    row: 'Record',
    unit: 'bool',
    queries: [
      { expr: 'max by (test) (oracle_self_test_failed)', legend: '{{test}} failed' },
      { expr: 'max by (test) (oracle_self_test_overdue)', legend: '{{test}} overdue' },
    ],
  },
  requests: {
    title: 'Requests by route',
    row: 'Traffic',
    unit: 'reqps',
    queries: [{ expr: 'topk(12, sum by (route) (rate(oracle_http_requests_total[5m])))', legend: '{{route}}' }],
  },
  tiers: {
    title: 'Requests by tier',
    row: 'Traffic',
    unit: 'reqps',
    queries: [{ expr: 'sum by (tier) (rate(oracle_http_requests_total[5m]))', legend: '{{tier}}' }],
  },
  deliveries: {
    title: 'Webhook deliveries',
    row: 'Traffic',
    unit: 'reqps',
    queries: [{ expr: 'sum by (result) (rate(oracle_delivery_attempts_total[5m]))', legend: '{{result}}' }],
  },
  websockets: {
    title: 'WebSocket connections',
    row: 'Traffic',
    unit: 'short',
    queries: [{ expr: 'sum by (instance) (oracle_websockets)', legend: '{{instance}}' }],
  },
  errors: {
    title: 'Requests by status',
    row: 'Errors and latency',
    unit: 'reqps',
    queries: [{ expr: 'sum by (status) (rate(oracle_http_requests_total[5m]))', legend: '{{status}}' }],
  },
  latency: {
    title: 'Time of an answer',
    row: 'Errors and latency',
    unit: 's',
    queries: [0.5, 0.95, 0.99].map((quantile) => ({
      expr: `histogram_quantile(${quantile}, sum by (le) (rate(oracle_http_request_seconds_bucket{method="GET",route=~"/api/.+"}[10m])))`,
      legend: `p${quantile * 100}`,
    })),
  },
  database: {
    title: 'Latency of the database',
    row: 'Errors and latency',
    unit: 's',
    queries: [{ expr: 'oracle_database_ping_seconds', legend: '{{instance}}' }],
  },
  log: {
    title: 'Lines of the log in an hour',
    row: 'Errors and latency',
    unit: 'short',
    queries: [
      { expr: 'sum by (level) (increase(oracle_log_lines_total[1h]))', legend: '{{level}}' },
      { expr: 'sum by (message) (increase(oracle_log_messages_total[1h])) > 0', legend: '{{message}}' },
    ],
  },
  saturation: {
    title: 'Queueing delay, lag of the event loop',
    row: 'Saturation',
    unit: 's',
    queries: [
      { expr: 'oracle_queueing_delay_seconds', legend: '{{instance}} delay' },
      { expr: 'nodejs_eventloop_lag_p99_seconds', legend: '{{instance}} event loop p99' },
    ],
  },
  admission: {
    title: 'Requests that run and wait',
    row: 'Saturation',
    unit: 'short',
    queries: [
      { expr: 'oracle_requests_running', legend: '{{instance}} run' },
      { expr: 'oracle_requests_waiting', legend: '{{instance}} wait' },
      { expr: 'oracle_requests_limit', legend: '{{instance}} limit' },
    ],
  },
  connections: {
    title: 'Use of the shares of connections',
    row: 'Saturation',
    unit: 'percentunit',
    queries: [{ expr: 'oracle_connections / oracle_connections_limit', legend: '{{instance}} {{share}}' }],
  },
  lag: {
    title: 'Lag of event log and deliveries',
    row: 'Saturation',
    unit: 's',
    queries: [
      { expr: 'max(oracle_event_log_lag_seconds)', legend: 'event log' },
      { expr: 'max(oracle_delivery_overdue_seconds)', legend: 'deliveries' },
    ],
  },
  backup: {
    title: 'Age of the newest backup',
    row: 'Saturation',
    unit: 's',
    queries: [{ expr: 'min(oracle_backup_age_seconds)', legend: 'backup' }],
  },
  queue: {
    title: 'Webhook deliveries in the queues',
    row: 'Saturation',
    unit: 'short',
    queries: [{ expr: 'max(oracle_deliveries_pending)', legend: 'pending' }],
  },
  chain: {
    title: 'Chain: age of the newest block',
    row: 'Chain and money',
    unit: 's',
    queries: [
      { expr: 'min(oracle_chain_block_age_seconds)', legend: 'age' },
      { expr: 'max(oracle_chain_up)', legend: 'answers' },
      { expr: 'rate(oracle_chain_block_number[10m])', legend: '{{instance}} blocks a second' },
    ],
  },
  balances: {
    title: 'Gas that the wallets have: days',
    row: 'Chain and money',
    unit: 'd',
    queries: [{ expr: 'min by (role) (oracle_wallet_days_left)', legend: '{{role}}' }],
  },
  ether: {
    title: 'Gas that the wallets have: ether',
    row: 'Chain and money',
    unit: 'eth',
    queries: [{ expr: 'min by (role) (oracle_wallet_balance_ether)', legend: '{{role}}' }],
  },
  gas: {
    title: 'Price of gas',
    row: 'Chain and money',
    unit: 'gwei',
    queries: [{ expr: 'max(oracle_gas_price_gwei)', legend: 'gas' }],
  },
  transactions: {
    title: 'Transactions that are not final',
    row: 'Chain and money',
    unit: 'short',
    queries: [
      { expr: 'max by (role) (oracle_transactions_open)', legend: '{{role}}' },
      { expr: 'max by (role) (oracle_transaction_oldest_open_seconds)', legend: '{{role}} oldest, s' },
    ],
  },
  nonces: {
    title: 'Nonces: signed less mined',
    row: 'Chain and money',
    unit: 'short',
    queries: [{ expr: 'max by (role) (oracle_wallet_nonce_signed) - max by (role) (oracle_wallet_nonce_mined)', legend: '{{role}}' }],
  },
  payments: {
    title: 'x402 payments by outcome',
    row: 'Chain and money',
    unit: 'reqps',
    queries: [{ expr: 'sum by (outcome) (rate(oracle_payments_total[5m]))', legend: '{{outcome}}' }],
  },
  'payments-open': {
    title: 'Age of the oldest open payment',
    row: 'Chain and money',
    unit: 's',
    queries: [{ expr: 'max(oracle_payment_unsettled_seconds)', legend: 'oldest' }],
  },
  sales: {
    title: 'Sales by channel',
    row: 'Chain and money',
    unit: 'currencyUSD',
    queries: [
      { expr: 'max by (channel) (oracle_sales_usd)', legend: '{{channel}}' },
      { expr: 'max by (channel) (oracle_sales)', legend: '{{channel}}, calls' },
    ],
  },
  series: {
    title: 'Series that are stale; their age in days',
    row: 'Market',
    unit: 'd',
    queries: [
      { expr: 'max by (series) (oracle_series_stale) == 1', legend: '{{series}} is stale' },
      { expr: 'max by (series) (oracle_series_age_days)', legend: '{{series}}' },
    ],
  },
  providers: {
    title: 'Providers: failed calls a minute',
    row: 'Market',
    unit: 'short',
    queries: [
      { expr: 'sum by (provider) (rate(oracle_provider_failures[5m])) * 60', legend: '{{provider}}' },
      { expr: 'max by (provider) (oracle_provider_circuit_open) == 1', legend: '{{provider}} is suspended' },
      { expr: 'sum(rate(oracle_provider_calls[5m])) * 60', legend: 'calls of all' },
    ],
  },
  skew: {
    title: 'Clocks of the providers, less ours',
    row: 'Market',
    unit: 's',
    queries: [{ expr: 'oracle_provider_clock_skew_seconds', legend: '{{provider}}' }],
  },
  archive: {
    title: 'Collections of the archive that failed in a row',
    row: 'Market',
    unit: 'short',
    queries: [{ expr: 'max by (series) (oracle_archive_failures)', legend: '{{series}}' }],
  },
  processes: {
    title: 'Processes that answer',
    row: 'Process',
    unit: 'short',
    queries: [
      { expr: 'sum by (job) (up{job=~"oracle-.+"})', legend: '{{job}}' },
      { expr: 'count by (version, role) (oracle_info)', legend: '{{role}} {{version}}' },
    ],
  },
  readiness: {
    title: 'Readiness',
    row: 'Process',
    unit: 'bool',
    queries: [
      { expr: 'oracle_ready', legend: '{{instance}} ready' },
      { expr: 'min by (check) (oracle_check_ok)', legend: '{{check}}' },
      { expr: 'min(oracle_state_readable)', legend: 'database readable' },
    ],
  },
  memory: {
    title: 'Resident memory',
    row: 'Process',
    unit: 'bytes',
    queries: [{ expr: 'process_resident_memory_bytes{job=~"oracle-.+"}', legend: '{{instance}}' }],
  },
  cpu: {
    title: 'Use of CPU',
    row: 'Process',
    unit: 'percentunit',
    queries: [{ expr: 'rate(process_cpu_seconds_total{job=~"oracle-.+"}[5m])', legend: '{{instance}}' }],
  },
});

export type PanelId = keyof typeof PANELS;
