import { formatDay } from '../../forecast/day.ts';
import { renderModelCard } from './card.ts';
import { LAST_SIMULATED_DAY, type ModelHistory } from './histories.ts';
import { renderResults } from './results-section.ts';

/** Around the part of the page that needs files which are not here. */
const BEGIN_MARKER = '<!-- recorded -->';
const END_MARKER = '<!-- /recorded -->';

const NOT_RECORDED_TEXT = 'Not made yet: `npm run docs:model -- --data <folder>` makes it from a folder of CSV files ([DATA.md](DATA.md)).';

/** The part of a page that was made from recorded history; null for a page without one. */
export function extractRecordedSection(page: string): string | null {
  const [, rest] = page.split(`${BEGIN_MARKER}\n`);
  return rest === undefined ? null : rest.slice(0, rest.indexOf(`\n${END_MARKER}`)).trim();
}

/** What recorded history says of the model: figures made from it, and none of its rows. */
export async function renderRecordedSection(history: ModelHistory): Promise<string> {
  return `Daily history assembled from the sources above and, for early prices and realized prices, from Coin Metrics (CC BY-NC 4.0). It may not be
redistributed and is not part of this repository: with the same files, \`npm run docs:model -- --data <folder>\` writes this section, and
\`FEEDS=csv:<folder> npm run self-test\` prints the whole reports. ${await renderResults(history, true)}`;
}

/** The whole page. `recorded` is the part made from recorded history, by whoever has it. */
export async function renderModelPage(simulated: ModelHistory, recorded: string | null): Promise<string> {
  return [
    renderModelCard(),
    '## Results on recorded history',
    `${BEGIN_MARKER}\n${recorded ?? NOT_RECORDED_TEXT}\n${END_MARKER}`,
    '## Results on the simulated market',
    `Anybody can make these again, to the digit: \`npm run docs:model\`, or \`FEEDS=simulated npm run self-test\`. The market is made up, with days until
${formatDay(LAST_SIMULATED_DAY)}: its figures prove that the machinery works, and say nothing about Bitcoin. ${await renderResults(simulated, false)}`,
  ]
    .join('\n\n')
    .concat('\n');
}
