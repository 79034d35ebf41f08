import { RUNBOOK } from '../runbook/runbook.ts';
import type { Alert, RunbookRow } from '../runbook/runbook-row.ts';
import { toPlainText } from './markdown.ts';
import { quote, renderYamlMap } from './yaml.ts';

/** Where the text of an alert stands, from the root of this repository. */
const RUNBOOK_ANCHOR = 'docs/OPERATE.md#runbook';

/** The alert rules in the format of Prometheus. */
export function renderRules(): string {
  const groups = RUNBOOK.map(({ topic, rows }) => {
    const rules = rows.flatMap((row) => row.alerts.map((alert) => renderRule(alert, row)));
    return `  - name: oracle-${topic}\n    rules:\n${rules.join('')}`;
  });
  return `groups:\n${groups.join('')}`;
}

function renderRule(alert: Alert, row: RunbookRow): string {
  const annotations = renderYamlMap(buildAnnotations(alert, row), 10);
  const lines = [
    `      - alert: ${alert.id}`,
    `        expr: ${quote(alert.expr)}`,
    `        for: ${alert.for}`,
    `        labels:\n          severity: ${alert.severity}`,
    `        annotations:\n${annotations}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Braces of the texts would be templates. */
export function buildAnnotations({ summary, panel }: Alert, { means, action }: RunbookRow): Record<string, string> {
  const text = (markdown: string) => toPlainText(markdown).replaceAll(/[{}]/g, '');
  return { summary, meaning: text(means), action: text(action), runbook: RUNBOOK_ANCHOR, panel };
}
