import { RUNBOOK_ROWS } from '../runbook/runbook.ts';
import type { RunbookRow } from '../runbook/runbook-row.ts';
import { WATCH_LIST } from '../runbook/watch-list.ts';

/** What to watch, as a Markdown table. */
export function renderWatchTable(): string {
  const rows = WATCH_LIST.map(({ ask, every, alarm, alerts }) => [
    ask,
    every,
    alarm,
    alerts.length === 0 ? 'none: a command' : code(alerts),
  ]);
  return formatTable(['Ask', 'How often', 'Alarm', 'Alert'], rows);
}

/** The runbook as a Markdown table. */
export function renderRunbookTable(): string {
  const rows = RUNBOOK_ROWS.map((row) => [row.seen, row.means, row.action, formatAlerts(row)]);
  return formatTable(['You see', 'What it means', 'What to do', 'Alert'], rows);
}

function formatAlerts({ alerts, see = [], unmeasured }: RunbookRow): string {
  const ids = [...alerts.map(({ id }) => id), ...see];
  return ids.length === 0 ? `none: ${unmeasured}` : code(ids);
}

const code = (ids: readonly string[]) => ids.map((id) => `\`${id}\``).join(', ');

function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
