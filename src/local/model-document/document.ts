import { formatDay } from '../../forecast/day.ts';
import { cardMarkdown } from './card.ts';
import { type History, LAST_SIMULATED_DAY } from './histories.ts';
import { resultsMarkdown } from './history-section.ts';

/** Around the part of the page that needs files which are not here. */
const BEGIN = '<!-- recorded -->';
const END = '<!-- /recorded -->';

const NOT_YET = 'Not made yet: `npm run docs:model -- --data <folder>` makes it from a folder of CSV files ([DATA.md](DATA.md)).';

/** The part of a page that was made from recorded history; null for a page without one. */
export function recordedPart(page: string): string | null {
  const [, rest] = page.split(`${BEGIN}\n`);
  return rest === undefined ? null : rest.slice(0, rest.indexOf(`\n${END}`)).trim();
}

/** What recorded history says of the model: figures made from it, and none of its rows. */
export async function recordedMarkdown(history: History): Promise<string> {
  return `Daily history assembled from the sources above and, for early prices and realized prices, from Coin Metrics (CC BY-NC 4.0). It may not be
redistributed and is not part of this repository: with the same files, \`npm run docs:model -- --data <folder>\` writes this section, and
\`FEEDS=csv:<folder> npm run self-test\` prints the whole reports. ${await resultsMarkdown(history, true)}`;
}

/** The whole page. `recorded` is the part made from recorded history, by whoever has it. */
export async function modelPage(simulated: History, recorded: string | null): Promise<string> {
  return [
    cardMarkdown(),
    '## Results on recorded history',
    `${BEGIN}\n${recorded ?? NOT_YET}\n${END}`,
    '## Results on the simulated market',
    `Anybody can make these again, to the digit: \`npm run docs:model\`, or \`FEEDS=simulated npm run self-test\`. The market is made up, with days until
${formatDay(LAST_SIMULATED_DAY)}: its figures prove that the machinery works, and say nothing about Bitcoin. ${await resultsMarkdown(simulated, false)}`,
  ]
    .join('\n\n')
    .concat('\n');
}
