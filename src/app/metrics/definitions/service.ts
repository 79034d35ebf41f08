import { flag, one, type StateMetric } from '../metric-definition.ts';

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
