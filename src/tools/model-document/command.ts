import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { extractRecordedSection, renderModelPage, renderRecordedSection } from './document.ts';
import { loadRecordedHistory, loadSimulatedHistory } from './histories.ts';

const FILE = resolve(import.meta.dirname, '../../../docs/MODEL.md');

/** Writes docs/MODEL.md: what `npm run docs:model [-- --data <folder of CSV files>]` starts. Without a folder its part stays as it is. */
export async function writeModelDocument(words: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...words], options: { data: { type: 'string' } } });
  // What cannot be read must not be written over: the part on recorded history cannot be made again without its files.
  const recorded =
    values.data === undefined
      ? extractRecordedSection(await readFile(FILE, 'utf8'))
      : await renderRecordedSection(await loadRecordedHistory(values.data));
  await writeFile(FILE, await renderModelPage(await loadSimulatedHistory(), recorded));
}
