import { byKey, known, one, type ProcessMetric } from '../metric-definition.ts';

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
    name: 'oracle_payments_total',
    help: 'x402 payments that this process was sent, by outcome; free answers are accepted ones.',
    labels: ['outcome'],
    read: ({ work }) => byKey('outcome', work.payments),
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
