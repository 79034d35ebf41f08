import { flag, known, type Sample, type StateMetric } from '../metric-definition.ts';

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
    name: 'oracle_archive_failures',
    help: 'Consecutive failed collections of data for later models.',
    labels: ['series'],
    read: ({ status }) => status.market.archive.map(({ series, failures }) => ({ labels: { series }, value: failures })),
  },
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
