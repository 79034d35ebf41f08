// Writes the tables that come from the code into the documents, each between its two markers.
import { readFile, writeFile } from 'node:fs/promises';
import { requireNode } from './require-node.mjs';

requireNode();
const { settingsMarkdown } = await import('../src/config.ts');
const { offeringsMarkdown } = await import('../src/commerce/offerings-table.ts');
const { contestMarkdown } = await import('../src/contest/rules.ts');
const { operationsMarkdown } = await import('../src/http/operations-table.ts');
const { problemsMarkdown } = await import('../src/http/problem-table.ts');
const { declaredRoutes } = await import('../src/http/routes/declared.ts');
const { providersMarkdown } = await import('../src/market/live/registry.ts');
const { eventTables } = await import('../src/push/tables.ts');

await replace('docs/SETTINGS.md', 'settings', settingsMarkdown());
await replace('docs/DATA.md', 'providers', providersMarkdown());
await replace('docs/API.md', 'operations', operationsMarkdown(declaredRoutes()));
await replace('docs/API.md', 'problems', problemsMarkdown(declaredRoutes()));
await replace('docs/PAYING.md', 'offerings', offeringsMarkdown());
await replace('docs/CONTEST.md', 'contest', contestMarkdown());
for (const [marker, table] of Object.entries(eventTables())) await replace('docs/EVENTS.md', marker, table);

async function replace(path, marker, table) {
  const file = new URL(`../${path}`, import.meta.url);
  const text = await readFile(file, 'utf8');
  const [before, rest] = text.split(`<!-- ${marker} -->\n`);
  const after = rest.slice(rest.indexOf(`<!-- /${marker} -->`));
  await writeFile(file, `${before}<!-- ${marker} -->\n${table}\n${after}`);
}
