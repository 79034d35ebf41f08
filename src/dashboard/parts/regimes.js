import { dateOf } from '../charts/chart.js';
import { figure } from '../charts/figure.js';
import { LANES, regimeLanes, riskClass } from '../charts/lanes.js';
import { bodyOf, h } from '../lib/dom.js';
import { notYet, show } from '../lib/section.js';
import { regimeName, regimeRuns } from '../record/record-rows.js';

/** @import { Run } from '../record/record-rows.js' */
/** @import { Page } from './main.js' */

/** @param {Page} page */
export function mountRegimes({ store }) {
  show({ store, name: 'scorecard', body: bodyOf('regimes'), draw: ({ predictions }) => drawn(regimeRuns(predictions)) });
}

/** @param {readonly Run[]} runs */
function drawn(runs) {
  const now = runs.at(-1);
  if (now === undefined) return notYet('No regime is known yet: the first forecast tells it.');
  return [
    h('p', { class: 'lead' }, h('strong', {}, `${regimeName(now.regime)} since ${dateOf(now.first)}`), `, ${riskOf(now)} risk.`),
    figure({
      title: 'Regime of each day that a forecast was made on',
      summary: summaryOf(runs),
      legend: RISKS.map((risk) => ({ label: `${risk.toLowerCase()} risk`, mark: `mark-run ${riskClass(risk)}` })),
      draw: (width) => regimeLanes({ width, runs }),
      note: 'A new regime counts after it has held for some days, so that one odd day changes nothing; a crisis counts at once.',
      columns: [
        { heading: 'From', cell: ({ first }) => dateOf(first) },
        { heading: 'To', cell: ({ last }) => dateOf(last) },
        { heading: 'Regime', cell: ({ regime }) => regimeName(regime) },
        { heading: 'Risk', cell: ({ riskLevel }) => riskLevel ?? '–' },
        { heading: 'Days forecast', cell: ({ days }) => days, numeric: true },
      ],
      rows: runs.toReversed(),
    }),
  ];
}

/** Riskiest first. */
const RISKS = [...new Set(LANES.map(({ riskLevel }) => riskLevel))];

/** @param {Run} run */
function riskOf({ riskLevel }) {
  return riskLevel === null ? 'unknown' : riskLevel.toLowerCase();
}

/** @param {readonly Run[]} runs */
function summaryOf(runs) {
  const days = runs.reduce((sum, run) => sum + run.days, 0);
  const longest = runs.reduce((most, run) => (run.days > most.days ? run : most));
  const changes = runs.length - 1;
  const changed = `${changes === 0 ? 'No change' : `${changes} ${changes === 1 ? 'change' : 'changes'}`} in ${days} ${days === 1 ? 'day' : 'days'}`;
  return `${changed}; the longest was ${regimeName(longest.regime)}, ${longest.days} ${longest.days === 1 ? 'day' : 'days'} from ${dateOf(longest.first)}.`;
}
