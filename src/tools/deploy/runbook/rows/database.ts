import { alertOnMessage } from '../message-alert.ts';
import { REFUSED_START, type RunbookRow } from '../runbook-row.ts';

export const DATABASE_ROWS: readonly RunbookRow[] = [
  {
    seen: '`backup failed`',
    means: 'the database does not answer, the disk is full, or the record changed during each copy',
    action: 'The reason is in the log. It is tried again every five minutes',
    alerts: [
      {
        id: 'OracleBackupOld',
        expr: 'min(oracle_backup_age_seconds) > 100000',
        for: '10m',
        severity: 'ticket',
        summary: 'No backup was verified for 28 hours',
        panel: 'backup',
        fires: { at: '11m', series: { 'oracle_backup_age_seconds{instance="a"}': '100001+60x20' } },
        silent: { at: '11m', series: { 'oracle_backup_age_seconds{instance="a"}': '90000+60x20' } },
      },
    ],
  },
  {
    seen: '`what it lacks was read back`',
    means: 'the start: outcomes, or commitments of known forecasts, were on chain and not in the database, as after a restore',
    action: 'Nothing. Was none restored, find out which program sent them',
    alerts: [],
    unmeasured: 'nothing has to be done',
  },
  {
    seen: '`that was not completed`',
    means: 'the start: the database holds half a restore',
    action: 'Run `svc restore` again with the same file',
    ...REFUSED_START,
  },
  {
    seen: '`The database does not answer`, `DATABASE_UNAVAILABLE`',
    means: 'no primary, no network, a full disk, or a wrong password',
    action:
      'Repair it, or free space (`strike_snapshots` is the largest); nothing needs a restart. What was acknowledged is there; steps continue where they stood',
    alerts: [
      {
        id: 'OracleDatabaseDown',
        expr: 'min(oracle_state_readable) == 0 or min(oracle_check_ok{check="database"}) == 0',
        for: '2m',
        severity: 'page',
        summary: 'The database has not answered for 2 minutes',
        panel: 'readiness',
        fires: { at: '3m', series: { 'oracle_state_readable{instance="a"}': '0x10', 'oracle_state_readable{instance="b"}': '1x10' } },
        silent: {
          at: '3m',
          series: { 'oracle_state_readable{instance="a"}': '0x1 1x10', 'oracle_check_ok{check="database",instance="a"}': '_x2 1x10' },
        },
      },
      {
        id: 'OracleDatabaseSlow',
        expr: 'min_over_time(oracle_database_ping_seconds[5m]) > 0.25',
        for: '10m',
        severity: 'ticket',
        summary: 'The database takes more than 250 ms for a command that does nothing, as {{ $labels.instance }} measures it',
        panel: 'database',
        fires: {
          at: '20m',
          series: { 'oracle_database_ping_seconds{instance="a",job="oracle-api"}': '0.3x30' },
          labels: { instance: 'a', job: 'oracle-api' },
        },
        silent: { at: '20m', series: { 'oracle_database_ping_seconds{instance="a",job="oracle-api"}': '0.3x13 0.01x2 0.3x10' } },
      },
    ],
  },
  {
    seen: '`the database does not count requests`',
    means: 'limits hold for each process alone meanwhile',
    action: 'As for a database that does not answer',
    alerts: [
      alertOnMessage({
        id: 'OracleRequestsUncounted',
        message: 'the database does not count requests: each process limits for itself',
        severity: 'ticket',
        summary: 'The database does not count requests: each process limits for itself',
      }),
    ],
  },
  {
    seen: '`INTERNAL` on everything that writes',
    means: 'the database refuses writes: the user lost `readWrite`',
    action: 'Grant it again, then look at `step failed`',
    alerts: [
      {
        id: 'OracleServerErrors',
        expr: 'sum(rate(oracle_http_requests_total{status=~"500|502|504"}[5m])) / sum(rate(oracle_http_requests_total[5m])) > 0.01',
        for: '5m',
        severity: 'page',
        summary: 'More than one answer in a hundred is an error of the service',
        panel: 'errors',
        fires: {
          at: '20m',
          series: {
            'oracle_http_requests_total{status="200",instance="a"}': '0+98x30',
            'oracle_http_requests_total{status="500",instance="a"}': '0+2x30',
          },
        },
        silent: {
          at: '20m',
          series: {
            'oracle_http_requests_total{status="200",instance="a"}': '0+995x30',
            'oracle_http_requests_total{status="500",instance="a"}': '0+5x30',
          },
        },
      },
    ],
  },
];
