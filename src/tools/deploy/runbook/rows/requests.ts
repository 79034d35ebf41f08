import { alertOnMessage } from '../message-alert.ts';
import type { RunbookRow } from '../runbook-row.ts';

export const REQUEST_ROWS: readonly RunbookRow[] = [
  {
    seen: '`X-Forwarded-For is present but not trusted`',
    means: 'a proxy that `TRUST_PROXY` does not name',
    action: 'Set it: until then all callers share one limit',
    alerts: [
      {
        id: 'OracleProxyUntrusted',
        expr: 'max by (instance) (oracle_log_messages_total{message="X-Forwarded-For is present but not trusted: behind a proxy, set TRUST_PROXY"}) > 0',
        for: '0m',
        severity: 'ticket',
        summary: '{{ $labels.instance }} gets X-Forwarded-For of a proxy that TRUST_PROXY does not name',
        panel: 'log',
        fires: {
          at: '1m',
          series: {
            'oracle_log_messages_total{message="X-Forwarded-For is present but not trusted: behind a proxy, set TRUST_PROXY",instance="a"}':
              '1x5',
          },
          labels: { instance: 'a' },
        },
        silent: {
          at: '1m',
          series: {
            'oracle_log_messages_total{message="X-Forwarded-For is present but not trusted: behind a proxy, set TRUST_PROXY",instance="a"}':
              '0x5',
          },
        },
      },
    ],
  },
  {
    seen: '503 `OVERLOADED`',
    means:
      'the connections that a network, or anonymous clients together, may have are in use; or more requests come than the process answers in time',
    action:
      'Token holders, payers and `/health` are still served. For connections, raise `MAX_CONNECTIONS` with the file descriptors of the process, or limit clients in the proxy; for load, start another process with `ROLE=api`',
    alerts: [
      {
        id: 'OracleOverloaded',
        expr: 'sum by (instance) (rate(oracle_http_requests_total{status="503"}[5m])) > 1 and on (instance) oracle_ready == 1',
        for: '5m',
        severity: 'ticket',
        summary: '{{ $labels.instance }} rejects more than one request a second',
        panel: 'errors',
        fires: {
          at: '20m',
          series: { 'oracle_http_requests_total{status="503",instance="a"}': '0+120x30', 'oracle_ready{instance="a"}': '1x30' },
          labels: { instance: 'a' },
        },
        silent: {
          at: '20m',
          series: {
            'oracle_http_requests_total{status="503",instance="a"}': '0+120x30',
            'oracle_ready{instance="a"}': '0x30',
            'oracle_http_requests_total{status="503",instance="b"}': '0+50x30',
            'oracle_ready{instance="b"}': '1x30',
          },
        },
      },
      {
        id: 'OracleConnectionsFull',
        expr: 'oracle_connections / oracle_connections_limit > 0.9',
        for: '5m',
        severity: 'ticket',
        summary: 'The {{ $labels.share }} share of connections of {{ $labels.instance }} is nearly used up',
        panel: 'connections',
        fires: {
          at: '6m',
          series: {
            'oracle_connections{share="general",instance="a",job="oracle-api"}': '3700x10',
            'oracle_connections_limit{share="general",instance="a",job="oracle-api"}': '4096x10',
          },
          labels: { share: 'general', instance: 'a', job: 'oracle-api' },
        },
        silent: {
          at: '6m',
          series: {
            'oracle_connections{share="general",instance="a",job="oracle-api"}': '3600x10',
            'oracle_connections_limit{share="general",instance="a",job="oracle-api"}': '4096x10',
          },
        },
      },
      {
        id: 'OracleQueueingDelay',
        expr: 'avg_over_time(oracle_queueing_delay_seconds[5m]) > 0.1',
        for: '10m',
        severity: 'ticket',
        summary: 'Work waits for more than 100 ms for event loop and database of {{ $labels.instance }}',
        panel: 'saturation',
        fires: {
          at: '20m',
          series: { 'oracle_queueing_delay_seconds{instance="a",job="oracle-api"}': '0.2x30' },
          labels: { instance: 'a', job: 'oracle-api' },
        },
        silent: { at: '20m', series: { 'oracle_queueing_delay_seconds{instance="a",job="oracle-api"}': '0.01x12 0.3 0.01x20' } },
      },
      {
        id: 'OracleSlowAnswers',
        expr: 'histogram_quantile(0.99, sum by (le) (rate(oracle_http_request_seconds_bucket{method="GET",route=~"/api/.+"}[10m]))) > 2',
        for: '10m',
        severity: 'ticket',
        summary: 'One answer in a hundred takes more than 2 seconds',
        panel: 'latency',
        fires: {
          at: '30m',
          series: {
            'oracle_http_request_seconds_bucket{method="GET",route="/api/status",le="1",instance="a"}': '0+90x60',
            'oracle_http_request_seconds_bucket{method="GET",route="/api/status",le="2.5",instance="a"}': '0+90x60',
            'oracle_http_request_seconds_bucket{method="GET",route="/api/status",le="5",instance="a"}': '0+100x60',
            'oracle_http_request_seconds_bucket{method="GET",route="/api/status",le="+Inf",instance="a"}': '0+100x60',
          },
        },
        silent: {
          at: '30m',
          series: {
            'oracle_http_request_seconds_bucket{method="GET",route="/api/status",le="1",instance="a"}': '0+100x60',
            'oracle_http_request_seconds_bucket{method="GET",route="/api/status",le="2.5",instance="a"}': '0+100x60',
            'oracle_http_request_seconds_bucket{method="GET",route="/api/status",le="5",instance="a"}': '0+100x60',
            'oracle_http_request_seconds_bucket{method="GET",route="/api/status",le="+Inf",instance="a"}': '0+100x60',
          },
        },
      },
    ],
  },
  {
    seen: '`credentials of the operator refused`',
    means: 'failed logins at `/admin`',
    action: 'An address has 60 guesses a minute. Close `/admin` in the proxy if you do not need it from outside',
    alerts: [
      alertOnMessage({
        id: 'OracleOperatorGuessed',
        message: 'credentials of the operator refused',
        above: 20,
        severity: 'ticket',
        summary: 'More than 20 failed logins of the operator in 15 minutes',
      }),
    ],
  },
];
