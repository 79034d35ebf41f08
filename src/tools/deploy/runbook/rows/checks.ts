import type { RunbookRow } from '../runbook-row.ts';

export const CHECK_ROWS: readonly RunbookRow[] = [
  {
    seen: '`self-test failed`, `overdue`, a canary that was not caught',
    means: 'the test could not run; or it did, and found that the model sees what it should not',
    action:
      '`/api/self-test/status` has verdict and reason. `npm run -s self-test -- all` repeats it. Do not sell what fails it: set `WAGER_KILL_SWITCH=on`, say so, find the leak',
    alerts: [
      {
        id: 'OracleSelfTestFailed',
        expr: 'max by (test) (oracle_self_test_failed) == 1',
        for: '5m',
        severity: 'page',
        summary: 'Self-test {{ $labels.test }} has failed',
        panel: 'self-tests',
        fires: {
          at: '6m',
          series: { 'oracle_self_test_failed{test="contamination",instance="a"}': '1x10' },
          labels: { test: 'contamination' },
        },
        silent: { at: '6m', series: { 'oracle_self_test_failed{test="contamination",instance="a"}': '1x3 0x10' } },
      },
      {
        id: 'OracleSelfTestOverdue',
        expr: 'max by (test) (oracle_self_test_overdue) == 1',
        for: '6h',
        severity: 'ticket',
        summary: 'Self-test {{ $labels.test }} has no result of its last due day',
        panel: 'self-tests',
        fires: {
          at: '361m',
          series: { 'oracle_self_test_overdue{test="contamination",instance="a"}': '1x400' },
          labels: { test: 'contamination' },
        },
        silent: { at: '361m', series: { 'oracle_self_test_overdue{test="contamination",instance="a"}': '1x300 0x100' } },
      },
    ],
  },
  {
    seen: '`the clocks of process and database disagree`',
    means: 'the clock of this machine, or of the database, is off by more than a minute',
    action: 'Nothing was written that cannot be undone. Repair NTP where it is wrong, see [Clocks](#clocks); it goes on by itself',
    alerts: [
      {
        id: 'OracleClockDisagrees',
        expr: 'min by (instance) (oracle_check_ok{check="clock"}) == 0',
        for: '2m',
        severity: 'page',
        summary: 'The clocks of {{ $labels.instance }} and of the database differ by more than a minute',
        panel: 'readiness',
        fires: { at: '3m', series: { 'oracle_check_ok{check="clock",instance="a"}': '0x10' }, labels: { instance: 'a' } },
        silent: { at: '3m', series: { 'oracle_check_ok{check="clock",instance="a"}': '0x1 1x10' } },
      },
    ],
  },
  {
    seen: '`clockSkewMs` of all providers far from 0, logins refused for their time',
    means: 'the clock of this machine is wrong',
    action: 'Repair NTP. Forecasts are dated by blocks, not by this clock, but a late one may be void',
    alerts: [
      {
        id: 'OracleClockSkewed',
        expr: 'min by (instance) (abs(oracle_provider_clock_skew_seconds)) > 30',
        for: '15m',
        severity: 'ticket',
        summary: 'The clock of {{ $labels.instance }} is more than 30 s from that of every provider',
        panel: 'skew',
        fires: {
          at: '16m',
          series: {
            'oracle_provider_clock_skew_seconds{provider="kraken",instance="a"}': '-31x20',
            'oracle_provider_clock_skew_seconds{provider="coinbase",instance="a"}': '-40x20',
          },
          labels: { instance: 'a' },
        },
        silent: {
          at: '16m',
          series: {
            'oracle_provider_clock_skew_seconds{provider="kraken",instance="a"}': '-31x20',
            'oracle_provider_clock_skew_seconds{provider="coinbase",instance="a"}': '0x20',
          },
        },
      },
    ],
  },
];
