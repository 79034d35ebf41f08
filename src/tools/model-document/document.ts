import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { formatDay } from '../../forecast/day.ts';
import { renderModelCard } from './card.ts';
import { LAST_SIMULATED_DAY, loadRecordedHistory, loadSimulatedHistory, type ModelHistory } from './histories.ts';
import { renderResults } from './results-section.ts';

const FILE = resolve(import.meta.dirname, '../../../docs/MODEL.md');
/** Markers around the section from recorded history, whose files are not in the repository. */
const BEGIN_MARKER = '<!-- recorded -->';
const END_MARKER = '<!-- /recorded -->';
const NOT_RECORDED_TEXT = 'Not generated yet: run `npm run docs:model -- --data <folder>` with a folder of CSV files ([DATA.md](DATA.md)).';

/** Writes docs/MODEL.md. Option `--data <folder of CSV files>`; without it the section from recorded history is kept. */
export async function writeModelDocument(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { data: { type: 'string' } } });
  // Read first, as this section cannot be rebuilt without its files.
  const recorded =
    values.data === undefined
      ? extractRecordedSection(await readFile(FILE, 'utf8'))
      : await renderRecordedSection(await loadRecordedHistory(values.data));
  await writeFile(FILE, await renderModelPage(await loadSimulatedHistory(), recorded));
}

/** The section from recorded history; null for a page without one. */
export function extractRecordedSection(page: string): string | null {
  const [, rest] = page.split(`${BEGIN_MARKER}\n`);
  return rest === undefined ? null : rest.slice(0, rest.indexOf(`\n${END_MARKER}`)).trim();
}

export async function renderRecordedSection(history: ModelHistory): Promise<string> {
  return `Daily history assembled from the sources above and, for early prices and realized prices, from Coin Metrics (CC BY-NC 4.0). It may not be
redistributed and is not part of this repository. With the same files, \`npm run docs:model -- --data <folder>\` generates this section and
\`FEEDS=csv:<folder> npm run self-test\` prints the full reports. ${await renderResults(history, true)}`;
}

export async function renderModelPage(simulated: ModelHistory, recorded: string | null): Promise<string> {
  return [
    renderModelCard(),
    '## Results on recorded history',
    `${BEGIN_MARKER}\n${recorded ?? NOT_RECORDED_TEXT}\n${END_MARKER}`,
    '## Results on the simulated market',
    `Reproducible to the digit with \`npm run docs:model\` or \`FEEDS=simulated npm run self-test\`. The market is simulated, with days until
${formatDay(LAST_SIMULATED_DAY)}: its figures test the code and are no evidence about Bitcoin. ${await renderResults(simulated, false)}`,
  ]
    .join('\n\n')
    .concat('\n');
}
