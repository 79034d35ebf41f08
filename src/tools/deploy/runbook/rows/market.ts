import type { RunbookRow } from '../runbook-row.ts';

export const MARKET_ROWS: readonly RunbookRow[] = [
  {
    seen: '`The last price from … minutes old, the limit is`',
    means: 'no price that venues agree on for 15 minutes; a signal would wait, most other answers say `stale`',
    action:
      'Is a worker running, can it reach the venues? `providers` in `/api/status` says who fails and why. Before 00:00 nothing is lost',
    alerts: [
      {
        id: 'OraclePriceStale',
        expr: 'min(oracle_check_ok{check="price"}) == 0',
        for: '10m',
        severity: 'page',
        summary: 'No price that venues agree on for 10 minutes',
        panel: 'readiness',
        fires: { at: '11m', series: { 'oracle_check_ok{check="price",instance="a"}': '0x20' } },
        silent: { at: '11m', series: { 'oracle_check_ok{check="price",instance="a"}': '0x5 1x20' } },
      },
    ],
  },
  {
    seen: '`provider failing`, `provider circuit opened`',
    means: 'one provider; the next one of the series is asked meanwhile',
    action: 'Nothing, as long as `provider recovered` follows. A ban or a changed format: `PROVIDER_URLS`, or an update',
    alerts: [
      {
        id: 'OracleProviderSuspended',
        expr: 'max by (provider) (oracle_provider_circuit_open) == 1',
        for: '1h',
        severity: 'ticket',
        summary: 'Provider {{ $labels.provider }} is suspended for an hour',
        panel: 'providers',
        fires: {
          at: '61m',
          series: { 'oracle_provider_circuit_open{provider="kraken",instance="a"}': '1x70' },
          labels: { provider: 'kraken' },
        },
        silent: { at: '61m', series: { 'oracle_provider_circuit_open{provider="kraken",instance="a"}': '1x50 0x20' } },
      },
      {
        id: 'OracleSeriesStale',
        expr: 'max by (series) (oracle_series_stale) == 1',
        for: '6h',
        severity: 'ticket',
        summary: 'Series {{ $labels.series }} is missing or too old for 6 hours',
        panel: 'series',
        fires: { at: '361m', series: { 'oracle_series_stale{series="funding",instance="a"}': '1x400' }, labels: { series: 'funding' } },
        silent: { at: '361m', series: { 'oracle_series_stale{series="funding",instance="a"}': '1x300 0x100' } },
      },
    ],
  },
  {
    seen: '`of the required … venues have a close`, `Venues differ by`',
    means: 'an outcome waits for three venues within 1 %',
    action: 'Wait. No close is ever set by hand',
    alerts: [
      {
        id: 'OracleResolutionWaiting',
        expr: 'max by (step) (oracle_step_waiting{step=~"open-window|resolve"}) == 1',
        for: '2h',
        severity: 'ticket',
        summary: 'Step {{ $labels.step }} waits for 2 hours',
        panel: 'steps',
        fires: { at: '121m', series: { 'oracle_step_waiting{step="resolve",instance="a"}': '1x130' }, labels: { step: 'resolve' } },
        silent: { at: '121m', series: { 'oracle_step_waiting{step="resolve",instance="a"}': '1x100 0x30' } },
      },
    ],
  },
  {
    seen: '`market history is incomplete: asking again later`',
    means: 'some history could not be fetched',
    action: 'Nothing while `/ready` is 200; else it says what it waits for',
    alerts: [],
    see: ['OracleNotReady'],
  },
  {
    seen: '`failures` in `market.archive`',
    means: 'data for later models cannot be collected; forecasts are unaffected',
    action: 'Read the error in the log: a provider that refuses, or a full disk of the database. The gap stays',
    alerts: [
      {
        id: 'OracleArchiveGap',
        expr: 'max by (series) (oracle_archive_failures) > 5',
        for: '0m',
        severity: 'ticket',
        summary: 'The archive of {{ $labels.series }} has failed to collect more than five times in a row',
        panel: 'archive',
        fires: { at: '1m', series: { 'oracle_archive_failures{series="depth",instance="a"}': '6x5' }, labels: { series: 'depth' } },
        silent: { at: '1m', series: { 'oracle_archive_failures{series="depth",instance="a"}': '5x5' } },
      },
    ],
  },
];
