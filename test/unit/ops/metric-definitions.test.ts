import { describe, expect, it } from 'vitest';
import { PROCESS_METRICS, STATE_METRICS, WATCHED_MESSAGES } from '../../../src/ops/metric-definitions.ts';
import { ALERTS, deployText } from '../../support/deploy/alerts.ts';
import { documentText } from '../../support/docs/documents.ts';

const GAUGES = [...STATE_METRICS, ...PROCESS_METRICS].map(({ name }) => name);
/** Of requests, of the snapshot, of Node and of the scraper. */
const OTHERS = [
  ...['oracle_http_requests_total', 'oracle_http_request_seconds_bucket', 'oracle_state_readable', 'up'],
  ...['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes', 'process_cpu_seconds_total'],
];

/** Names of the metrics in PromQL: a word before a selector, a range or the end of an operand, outside of quotes. */
function metricsIn(expr: string): string[] {
  return expr.replaceAll(/"[^"]*"/g, '').match(/\b(?:oracle|nodejs|process)_\w+|\bup\b/g) ?? [];
}

describe('the alerts', () => {
  const cases = deployText('prometheus/rules.test.yaml');
  const runbook = documentText('docs/OPERATE.md');

  it('are all read, and have names of their own', () => {
    expect(ALERTS).toHaveLength(deployText('prometheus/rules.yaml').split('- alert: ').length - 1);
    expect(new Set(ALERTS.map(({ id }) => id)).size).toBe(ALERTS.length);
  });

  it.each(ALERTS)('$id asks for metrics that there are, has its two cases and stands in the runbook', ({ id, expr }) => {
    expect(metricsIn(expr)).not.toEqual([]);
    expect([...GAUGES, ...OTHERS]).toEqual(expect.arrayContaining(metricsIn(expr)));
    for (const kind of ['fires', 'silent']) expect(cases).toContain(`- name: ${id} ${kind}\n`);
    expect(runbook).toContain(`\`${id}\``);
  });

  it('are those that the runbook names', () => {
    const named = new Set([...runbook.matchAll(/`(Oracle[A-Z]\w+)`/g)].map(([, id]) => id));
    expect([...named].toSorted()).toEqual(ALERTS.map(({ id }) => id).toSorted());
  });

  it('cover each message of the log that is counted, unless its row waits for another alert or asks nothing of the operator', () => {
    const exprs = ALERTS.map(({ expr }) => expr).join('\n');
    const without = WATCHED_MESSAGES.filter((message) => !exprs.includes(message.split(/[;:]/)[0]!));
    expect(without).toEqual([
      'market history is incomplete: asking again later',
      'what became of a payment is not known yet',
      'a webhook was disabled',
      'a webhook is suspended: its wallet has lost the Basic tier',
      'a task notification was not delivered',
    ]);
  });
});

describe('the dashboard', () => {
  const { panels } = JSON.parse(deployText('grafana/dashboards/oracle.json')) as { panels: { targets?: { expr: string }[] }[] };

  it('shows every gauge of the service, and no metric that there is not', () => {
    const shown = new Set(panels.flatMap(({ targets = [] }) => targets).flatMap(({ expr }) => metricsIn(expr)));
    expect(GAUGES.filter((name) => !shown.has(name))).toEqual([]);
    expect([...shown].filter((name) => ![...GAUGES, ...OTHERS].includes(name))).toEqual([]);
  });
});
