import { alertOnMessage } from '../message-alert.ts';
import type { RunbookRow } from '../runbook-row.ts';

export const PIPELINE_ROWS: readonly RunbookRow[] = [
  {
    seen: '`day missed`, `VOID` in `record.forecasts`',
    means: 'a day was not forecast, or not on chain before its window opened',
    action: 'It cannot be repaired, and is published as it is. Find the cause: `step waiting` just before',
    alerts: [
      {
        id: 'OracleDayLost',
        expr: 'max(oracle_forecasts{status="VOID"}) > max(oracle_forecasts{status="VOID"} offset 1d)',
        for: '0m',
        severity: 'page',
        summary: 'A forecast of the last 24 hours is void: a day of the record is lost',
        panel: 'forecasts',
        fires: { at: '25h', series: { 'oracle_forecasts{status="VOID",instance="a"}': '4x1480 8x60' } },
        silent: { at: '25h', series: { 'oracle_forecasts{status="VOID",instance="a"}': '4x1540' } },
      },
      {
        id: 'OracleDayNotAttested',
        expr: 'min(oracle_window_opens_seconds) < 7800 and max(oracle_attested_age_days) >= 1',
        for: '0m',
        severity: 'page',
        summary: 'It is past 21:50 UTC, and the forecasts of the day are not on chain',
        panel: 'attested',
        fires: {
          at: '20m',
          series: { 'oracle_window_opens_seconds{instance="a"}': '8400-60x30', 'oracle_attested_age_days{instance="a"}': '1x30' },
        },
        silent: {
          at: '20m',
          series: { 'oracle_window_opens_seconds{instance="a"}': '8400-60x30', 'oracle_attested_age_days{instance="a"}': '1x5 0x25' },
        },
      },
    ],
  },
  {
    seen: '`step waiting`',
    means: 'a step waits; `reason` says for what. Logged when the reason is new',
    action: 'See the reason in this table',
    alerts: [
      {
        id: 'OracleForecastAtRisk',
        expr: 'max by (step) (oracle_step_waiting{step=~"signal|attest"}) == 1',
        for: '10m',
        severity: 'page',
        summary: 'Step {{ $labels.step }} waits for 10 minutes: what is not on chain before 00:00 UTC is void',
        panel: 'steps',
        fires: { at: '11m', series: { 'oracle_step_waiting{step="attest",instance="a"}': '1x20' }, labels: { step: 'attest' } },
        silent: {
          at: '11m',
          series: {
            'oracle_step_waiting{step="attest",instance="a"}': '1x8 0x10',
            'oracle_step_waiting{step="brief",instance="a"}': '1x20',
          },
        },
      },
      {
        id: 'OracleStepWaiting',
        expr: 'max by (step) (oracle_step_waiting{step!~"signal|attest|open-window|resolve"}) == 1',
        for: '1h',
        severity: 'ticket',
        summary: 'Step {{ $labels.step }} waits for an hour',
        panel: 'steps',
        fires: { at: '61m', series: { 'oracle_step_waiting{step="brief",instance="a"}': '1x70' }, labels: { step: 'brief' } },
        silent: { at: '61m', series: { 'oracle_step_waiting{step="brief",instance="a"}': '1x50 0x20' } },
      },
    ],
  },
  {
    seen: '`step failed`, `job failed`',
    means: 'an error that trying again does not mend',
    action: 'The log has it. Mend it, then run the step',
    alerts: [
      {
        id: 'OracleStepFailed',
        expr: 'max by (step) (oracle_step_failed) == 1',
        for: '5m',
        severity: 'page',
        summary: 'Step {{ $labels.step }} has failed, and trying again does not mend it',
        panel: 'steps',
        fires: { at: '6m', series: { 'oracle_step_failed{step="attest",instance="a"}': '1x10' }, labels: { step: 'attest' } },
        silent: { at: '6m', series: { 'oracle_step_failed{step="attest",instance="a"}': '1x3 0x10' } },
      },
      alertOnMessage({ id: 'OracleJobFailed', message: 'job failed', severity: 'ticket', summary: 'A scheduled job has failed' }),
    ],
  },
  {
    seen: '`schedule` empty or in the past, `job queue`',
    means: 'no worker, or its database is silent',
    action: 'Start one. A job that died with its process is free again after 5 minutes',
    alerts: [
      {
        id: 'OracleWorkerAbsent',
        expr: 'absent(up{job="oracle-worker"} == 1)',
        for: '5m',
        severity: 'page',
        summary: 'No worker answers: no process runs the steps of the day',
        panel: 'processes',
        fires: { at: '6m', series: { 'up{job="oracle-worker",instance="a"}': '0x10' } },
        silent: { at: '6m', series: { 'up{job="oracle-worker",instance="a"}': '0x10', 'up{job="oracle-worker",instance="b"}': '1x10' } },
      },
      {
        id: 'OracleScheduleStalled',
        expr: 'max(oracle_job_next_run_seconds{task="catch-up"}) < -600',
        for: '0m',
        severity: 'page',
        summary: 'The run of catch-up is 10 minutes overdue: no process runs the steps of the day',
        panel: 'schedule',
        fires: { at: '1m', series: { 'oracle_job_next_run_seconds{task="catch-up",instance="a"}': '-601x5' } },
        silent: {
          at: '1m',
          series: {
            'oracle_job_next_run_seconds{task="catch-up",instance="a"}': '-601x5',
            'oracle_job_next_run_seconds{task="catch-up",instance="b"}': '30x5',
          },
        },
      },
    ],
  },
  {
    seen: '`a calendar gave no timestamp`, `a calendar is given up`',
    means:
      'a calendar of `OTS_CALENDARS` is down, slow or wrong; `reason` says what. The record does not need it, and other calendars go on',
    action: 'Nothing within two days. Then set another calendar: later days are stamped there, and each proof that is there stays',
    alerts: [
      {
        id: 'OracleTimestampPending',
        expr: 'max(oracle_timestamp_pending_seconds) > 172800',
        for: '1h',
        severity: 'ticket',
        summary: 'The commitments of a day are in no Bitcoin block after two days: its calendars do not keep their promise',
        panel: 'timestamps',
        fires: { at: '61m', series: { 'oracle_timestamp_pending_seconds{instance="a"}': '172801+60x70' } },
        silent: { at: '61m', series: { 'oracle_timestamp_pending_seconds{instance="a"}': '165000+60x70' } },
      },
    ],
  },
  {
    seen: '`Wagers wait for venues that are not configured`',
    means: 'open wagers at a venue that the settings no longer have',
    action: 'Set it again until they have settled',
    alerts: [],
    unmeasured: 'that a wager waits says that its forecast is no HOLD',
  },
  {
    seen: '`wager rejected`',
    means: 'the venue refused the order; the day has no wager',
    action: 'The reason is in the log',
    alerts: [],
    unmeasured: 'that there was an order says that the forecast is no HOLD',
  },
];
