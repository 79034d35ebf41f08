// Writes the settings table into the README, between its two markers.
import { readFile, writeFile } from 'node:fs/promises';
import { requireNode } from './require-node.mjs';

requireNode();
const { settingsMarkdown } = await import('../src/config.ts');
const file = new URL('../README.md', import.meta.url);
const text = await readFile(file, 'utf8');
const [before, rest] = text.split('<!-- settings -->\n');
const after = rest.slice(rest.indexOf('<!-- /settings -->'));
await writeFile(file, `${before}<!-- settings -->\n${settingsMarkdown()}\n${after}`);
