import { h } from '../lib/dom.ts';
import { formatCount } from '../lib/format.ts';
import type { ApiResponses } from '../state/responses.ts';

/** Counts by status of all forecasts. */
export function renderTally({ totalPredictions, wins, losses, holds, voids, missed, pending }: ApiResponses['scorecard']['summary']) {
  const tallies = [
    { mark: 'tally-win', n: wins, word: 'right' },
    { mark: 'tally-loss', n: losses, word: 'wrong' },
    { mark: 'tally-hold', n: holds, word: 'HOLD' },
    { mark: 'tally-void', n: voids, word: missed > 0 ? `void, ${formatCount(missed)} of them missed days` : 'void' },
    { mark: 'tally-open', n: pending, word: 'committed' },
  ];
  return h('ul', { class: 'tally', 'aria-label': `Status of all ${formatCount(totalPredictions)} forecasts` }, [
    h('li', {}, h('strong', {}, formatCount(totalPredictions)), ' forecasts, none left out:'),
    tallies.map(({ mark, n, word }) =>
      h('li', { class: n === 0 ? 'none' : null }, [
        h('span', { class: `mark ${mark}`, 'aria-hidden': 'true' }),
        h('strong', {}, formatCount(n)),
        ` ${word}`,
      ]),
    ),
  ]);
}
