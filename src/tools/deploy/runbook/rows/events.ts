import { alertOnMessage } from '../message-alert.ts';
import type { RunbookRow } from '../runbook-row.ts';

export const EVENT_ROWS: readonly RunbookRow[] = [
  {
    seen: '`a webhook was disabled`',
    means: 'its receiver answered 410, or failed for five days',
    action: 'Its owner was notified. Nothing',
    alerts: [
      alertOnMessage({
        id: 'OracleWebhookDisabled',
        message: 'a webhook was disabled',
        severity: 'info',
        summary: 'A webhook was disabled; its owner was notified',
      }),
    ],
  },
  {
    seen: '`a webhook is suspended`',
    means: 'its wallet has lost the Basic tier',
    action: 'It goes on by itself once the tier is back. Nothing',
    alerts: [
      alertOnMessage({
        id: 'OracleWebhookSuspended',
        message: 'a webhook is suspended: its wallet has lost the Basic tier',
        severity: 'info',
        summary: 'A webhook is suspended: its wallet has lost the Basic tier',
      }),
    ],
  },
  {
    seen: '`the secret of a webhook does not open`',
    means: '`ENCRYPTION_SECRET` is not the one that it was sealed under',
    action: 'Set the former one; or its owner gives it a new secret (`POST /api/svc/webhooks/{id}/secret`), after which what waits is sent',
    alerts: [
      alertOnMessage({
        id: 'OracleWebhookSecretSealed',
        message: 'the secret of a webhook does not open: nothing is sent to it',
        severity: 'ticket',
        summary: 'The secret of a webhook does not open under ENCRYPTION_SECRET',
      }),
    ],
  },
  {
    seen: '`a task notification was not delivered`',
    means: 'a callback of A2A did not answer',
    action: 'Nothing: the task can be asked for',
    alerts: [
      alertOnMessage({
        id: 'OracleTaskNotificationLost',
        message: 'a task notification was not delivered',
        severity: 'info',
        summary: 'A callback of A2A did not answer',
      }),
    ],
  },
  {
    seen: '`publishing changes failed: it will be retried`, `events could not be read or passed on`',
    means: 'the database, mostly; no event is lost or doubled',
    action: 'As for the database',
    alerts: [
      {
        id: 'OracleEventLogLag',
        expr: 'max(oracle_event_log_lag_seconds) > 300',
        for: '5m',
        severity: 'ticket',
        summary: 'A change of the record is not in the event log after 5 minutes',
        panel: 'lag',
        fires: { at: '6m', series: { 'oracle_event_log_lag_seconds{instance="a"}': '301+60x10' } },
        silent: { at: '6m', series: { 'oracle_event_log_lag_seconds{instance="a"}': '0+30x10' } },
      },
      {
        id: 'OracleEventsUnread',
        expr: 'sum by (message) (increase(oracle_log_messages_total{message=~"publishing changes failed.*|events could not be read or passed on.*"}[15m])) > 0',
        for: '0m',
        severity: 'ticket',
        summary: 'In the log: {{ $labels.message }}',
        panel: 'log',
        fires: {
          at: '30m',
          series: { 'oracle_log_messages_total{message="publishing changes failed: it will be retried",instance="a"}': '0x20 1x20' },
          labels: { message: 'publishing changes failed: it will be retried' },
        },
        silent: {
          at: '30m',
          series: { 'oracle_log_messages_total{message="publishing changes failed: it will be retried",instance="a"}': '1x40' },
        },
      },
    ],
  },
  {
    seen: '`webhooks could not be looked after: trying again`, `a webhook could not be sent to: trying again`',
    means: 'the worker that sends webhooks is stopped, or its database is slow; no delivery is lost',
    action: 'Start a worker, or another one. What waits is sent in order',
    alerts: [
      {
        id: 'OracleDeliveriesOverdue',
        expr: 'max(oracle_delivery_overdue_seconds) > 300',
        for: '5m',
        severity: 'ticket',
        summary: 'A webhook delivery is due for 5 minutes, and no worker sends it',
        panel: 'lag',
        fires: { at: '6m', series: { 'oracle_delivery_overdue_seconds{instance="a"}': '301+60x10' } },
        silent: { at: '6m', series: { 'oracle_delivery_overdue_seconds{instance="a"}': '0+30x10' } },
      },
    ],
  },
];
