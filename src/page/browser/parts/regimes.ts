import { formatRegime } from '../../markup.ts';
import { formatDayNumber } from '../charts/figure.ts';
import { getRiskClass, LANES, renderRegimeTimeline } from '../charts/over-time.ts';
import { createTimeFigure } from '../charts/time-figure.ts';
import { h } from '../dom.ts';
import { type RegimeRun, toRegimeRuns } from '../record.ts';
import type { ApiResponses } from '../responses.ts';
import { renderNotYet } from '../section.ts';

export function renderRegimes({ predictions }: ApiResponses['scorecard']) {
  const runs = toRegimeRuns(predictions);
  const now = runs.at(-1);
  if (now === undefined) return renderNotYet('No regime is known yet. It comes with the first forecast.');
  return [
    h('p', { class: 'lead' }, [
      h('strong', {}, `${formatRegime(now.regime)} since ${formatDayNumber(now.first)}`),
      `, ${formatRisk(now)} risk.`,
    ]),
    createTimeFigure({
      title: 'Market regime by day of forecast',
      // A run is shown while its last day is.
      points: () => runs.map((run) => ({ ...run, day: run.last })),
      span: () => [runs[0].first, now.last],
      summary: formatRegimeSummary,
      legend: () => RISK_LEVELS_SHOWN.map((risk) => ({ label: `${risk.toLowerCase()} risk`, mark: `mark-run ${getRiskClass(risk)}` })),
      draw: ({ points, ...options }) => renderRegimeTimeline({ ...options, runs: points }),
      read: (run) => `${formatRegime(run.regime)}, ${formatRisk(run)} risk: ${formatDayNumber(run.first)} to ${formatDayNumber(run.last)}.`,
      note: 'A new regime takes effect after several days, so that a single outlier does not change it; a crisis takes effect at once.',
      columns: [
        { heading: 'From', cell: ({ first }) => formatDayNumber(first) },
        { heading: 'To', cell: ({ last }) => formatDayNumber(last) },
        { heading: 'Regime', cell: ({ regime }) => formatRegime(regime) },
        { heading: 'Risk', cell: ({ riskLevel }) => riskLevel ?? '–' },
        { heading: 'Days forecast', cell: ({ days }) => days, numeric: true },
      ],
    }).element,
  ];
}

/** Riskiest first. */
const RISK_LEVELS_SHOWN = [...new Set(LANES.map(({ riskLevel }) => riskLevel))];

function formatRisk({ riskLevel }: RegimeRun) {
  return riskLevel === null ? 'unknown' : riskLevel.toLowerCase();
}

function formatRegimeSummary(runs: readonly RegimeRun[]) {
  const days = runs.reduce((sum, run) => sum + run.days, 0);
  const longest = runs.reduce((most, run) => (run.days > most.days ? run : most));
  const changes = runs.length - 1;
  const changed = `${changes === 0 ? 'No change' : `${changes} ${changes === 1 ? 'change' : 'changes'}`} in ${days} ${days === 1 ? 'day' : 'days'}`;
  return `${changed}; the longest was ${formatRegime(longest.regime)}, ${longest.days} ${longest.days === 1 ? 'day' : 'days'} from ${formatDayNumber(longest.first)}.`;
}
