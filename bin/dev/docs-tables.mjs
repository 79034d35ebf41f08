// Writes the tables that come from the code into the documents, each between its two markers, and the files by which directories of MCP
// servers find the project.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { printHelpIfAsked } from '../lib/help.mjs';
import { requireNode } from '../require-node.mjs';

requireNode();
printHelpIfAsked('Usage: npm run docs:tables\n\nWrites the tables that come from the code into the documents, and deploy/directories/.');
const { renderSettingsTable } = await import('../../src/settings.ts');
const { renderRetentionTable } = await import('../../src/app/retention.ts');
const { renderOfferingsTable } = await import('../../src/commerce/offerings.ts');
const { renderContestMarkdown } = await import('../../src/contest.ts');
const { renderProblemsTable } = await import('../../src/http/routes/docs.ts');
const { declaredRoutes } = await import('../../src/http/routes.ts');
const { providersMarkdown } = await import('../../src/market/sources/registry.ts');
const { renderImportLaw } = await import('../../src/tools/lint.ts');
const { renderCheckTable, renderOutOfReach } = await import('../../src/tools/docs-tables.ts');
const { buildPackageFiles } = await import('../../src/tools/packages.ts');
const { buildEventTables } = await import('../../src/tools/docs-tables.ts');

await replace('docs/SETTINGS.md', 'settings', renderSettingsTable());
await replace('docs/SETTINGS.md', 'retention', renderRetentionTable());
await replace('docs/DATA.md', 'providers', providersMarkdown());
await replace('docs/API.md', 'problems', renderProblemsTable(declaredRoutes()));
await replace('docs/PAYING.md', 'offerings', renderOfferingsTable());
await replace('docs/ARCHITECTURE.md', 'import-law', renderImportLaw());
await replace('docs/CONTEST.md', 'contest', renderContestMarkdown());
await replace('docs/VERIFY.md', 'checks', renderCheckTable());
await replace('docs/VERIFY.md', 'out-of-reach', renderOutOfReach());
for (const [marker, table] of Object.entries(buildEventTables())) await replace('docs/EVENTS.md', marker, table);

for (const [path, text] of Object.entries(buildPackageFiles())) {
  const file = new URL(`../../${path}`, import.meta.url);
  await mkdir(new URL('.', file), { recursive: true });
  await writeFile(file, text);
}

async function replace(path, marker, table) {
  const file = new URL(`../../${path}`, import.meta.url);
  const text = await readFile(file, 'utf8');
  const [before, rest] = text.split(`<!-- ${marker} -->\n`);
  const after = rest.slice(rest.indexOf(`<!-- /${marker} -->`));
  await writeFile(file, `${before}<!-- ${marker} -->\n${table}\n${after}`);
}
