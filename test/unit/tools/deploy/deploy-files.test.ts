import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROCESS_METRICS } from '../../../../src/app/metrics/definitions/process.ts';
import { STATE_METRICS } from '../../../../src/app/metrics/state-metrics.ts';
import { WATCHED_MESSAGES } from '../../../../src/app/metrics/watched-messages.ts';
import { buildDeployFiles } from '../../../../src/tools/deploy/deploy-files.ts';
import { PANELS } from '../../../../src/tools/deploy/panels.ts';
import { renderRunbookTable, renderWatchTable } from '../../../../src/tools/deploy/render/tables.ts';
import { ALERTS, RUNBOOK_ROWS } from '../../../../src/tools/deploy/runbook/runbook.ts';
import { WATCH_LIST } from '../../../../src/tools/deploy/runbook/watch-list.ts';
import { documentText, ROOT, unpadded } from '../../../support/docs/documents.ts';

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

describe('deploy/', () => {
  it.each(Object.entries(buildDeployFiles()))('%s is what the table generates', (path, text) => {
    expect(readFileSync(resolve(ROOT, path), 'utf8'), 'run npm run docs:tables').toBe(text);
  });

  it.each([
    ['watch', renderWatchTable()],
    ['runbook', renderRunbookTable()],
  ])('has its table of %s in docs/OPERATE.md', (marker, table) => {
    const text = unpadded(documentText('docs/OPERATE.md'));
    expect(text, 'run npm run docs:tables').toContain(`<!-- ${marker} -->\n${unpadded(table)}\n<!-- /${marker} -->`);
  });
});

describe('the alerts', () => {
  it('have names of their own', () => {
    expect(new Set(ALERTS.map(({ id }) => id)).size).toBe(ALERTS.length);
  });

  it.each(ALERTS)('$id asks for metrics that there are, and is tested with them', ({ expr, fires, silent }) => {
    const asked = metricsIn(expr);
    expect(asked).not.toEqual([]);
    expect([...GAUGES, ...OTHERS]).toEqual(expect.arrayContaining(asked));
    for (const { series } of [fires, silent]) for (const name of Object.keys(series)) expect(asked).toContain(/^\w+/.exec(name)![0]);
  });

  it('cover each row of the runbook, or the row says why none does', () => {
    const ids = ALERTS.map(({ id }) => id);
    for (const { seen, alerts, see = [], unmeasured } of RUNBOOK_ROWS) {
      expect(alerts.length + see.length > 0, seen).toBe(unmeasured === undefined);
      expect(ids).toEqual(expect.arrayContaining([...see]));
    }
    expect(ids).toEqual(expect.arrayContaining(WATCH_LIST.flatMap(({ alerts }) => alerts)));
  });

  it('cover each message of the log that is counted, unless its row waits for another alert', () => {
    const exprs = ALERTS.map(({ expr }) => expr).join('\n');
    const without = WATCHED_MESSAGES.filter((message) => !exprs.includes(message.split(/[;:]/)[0]!));
    expect(without).toEqual(['market history is incomplete: asking again later', 'what became of a payment is not known yet']);
  });
});

describe('the dashboard', () => {
  const queries = Object.values(PANELS).flatMap((panel) => panel.queries.map(({ expr }) => expr));

  it('shows every gauge of the service, and no metric that there is not', () => {
    const shown = new Set(queries.flatMap(metricsIn));
    expect(GAUGES.filter((name) => !shown.has(name))).toEqual([]);
    expect([...shown].filter((name) => ![...GAUGES, ...OTHERS].includes(name))).toEqual([]);
  });

  it('lists the alerts of a panel in its description', () => {
    const dashboard = buildDeployFiles()['deploy/grafana/dashboards/oracle.json']!;
    for (const { id } of ALERTS) expect(dashboard).toContain(`${id}: `);
  });
});
