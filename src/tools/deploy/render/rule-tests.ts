import { RUNBOOK_ROWS } from '../runbook/runbook.ts';
import type { Alert, AlertCase, RunbookRow } from '../runbook/runbook-row.ts';
import { buildAnnotations } from './rules.ts';
import { quote, renderYamlMap } from './yaml.ts';

/** Unit tests of the rules for promtool: each alert fires in one case and is silent in another. */
export function renderRuleTests(): string {
  const tests = RUNBOOK_ROWS.flatMap((row) => row.alerts.flatMap((alert) => [renderFiring(alert, row), renderSilent(alert)]));
  return `rule_files: [rules.yaml]\nevaluation_interval: 1m\ntests:\n${tests.join('')}`;
}

function renderFiring(alert: Alert, row: RunbookRow): string {
  const { labels = {} } = alert.fires;
  const annotations = buildAnnotations(alert, row);
  const summary = annotations.summary!.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => labels[name] ?? '');
  const expected = [
    `          - exp_labels:\n${renderYamlMap({ severity: alert.severity, ...labels }, 14)}`,
    `            exp_annotations:\n${renderYamlMap({ ...annotations, summary }, 14)}`,
  ];
  return renderCase(alert, 'fires', `\n${expected.join('\n')}`);
}

const renderSilent = (alert: Alert) => renderCase(alert, 'silent', ' []');

function renderCase(alert: Alert, kind: 'fires' | 'silent', expected: string): string {
  const { at, series }: AlertCase = alert[kind];
  const inputs = Object.entries(series).map(([name, values]) => `      - series: ${quote(name)}\n        values: ${quote(values)}\n`);
  return [
    `  - name: ${alert.id} ${kind}\n    interval: 1m\n    input_series:\n`,
    ...inputs,
    `    alert_rule_test:\n      - eval_time: ${at}\n        alertname: ${alert.id}\n        exp_alerts:${expected}\n`,
  ].join('');
}
