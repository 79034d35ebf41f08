import { getSectionBody, h } from '../../lib/dom.ts';
import { formatCount, formatDecimal, formatPercent } from '../../lib/format.ts';
import { mountResource, renderNotYet } from '../../lib/section.ts';
import { type Column, renderTable } from '../../lib/table.ts';
import type { Page } from '../../state/page.ts';
import type { ApiResponses } from '../../state/responses.ts';

type Challenge = ApiResponses['challenge'];
type Comparison = Challenge['horizons'][number]['comparisons'][number] & { horizon: string };
type DistributionRow = Challenge['horizons'][number]['distributions'][number] & { horizon: string };

/** Whether the record proves a version of the model better, and the scores of all distributions. */
export function mountChallenge({ store }: Page) {
  mountResource({ store, name: 'challenge', body: getSectionBody('challenge'), draw: renderChallenge });
}

function renderChallenge({ champion, changes, horizons }: Challenge) {
  const comparisons = horizons.flatMap((one) => one.comparisons.map((comparison): Comparison => ({ horizon: one.horizon, ...comparison })));
  const distributions = horizons.flatMap((one) => one.distributions.map((row): DistributionRow => ({ horizon: one.horizon, ...row })));
  if (comparisons.every(({ days }) => days === 0)) return renderNotYet('No outcome is known yet. The comparison starts with the first.');
  return [
    h('p', {}, [
      `The service forecasts by ${champion}. Both versions commit their distribution each day, in the same attestation; `,
      'evidence of 20 proves a difference at 5 %, whenever one looks.',
    ]),
    renderTable({ caption: 'Evidence between model versions', columns: EVIDENCE_COLUMNS, rows: comparisons }),
    changes.length === 0 ? null : h('p', {}, `Changes of champion: ${changes.map(formatChange).join('; ')}.`),
    h('details', { class: 'more-of' }, [
      h('summary', {}, 'Scores of all distributions, baselines included'),
      renderTable({ caption: 'Scores of all distributions', columns: DISTRIBUTION_COLUMNS, rows: distributions }),
    ]),
  ];
}

function formatChange({ at, from, to, forced }: Challenge['changes'][number]) {
  return `${from} to ${to} on ${at.slice(0, 10)}${forced ? ', forced against the evidence' : ''}`;
}

const EVIDENCE_COLUMNS: readonly Column<Comparison>[] = [
  { heading: 'Horizon', cell: ({ horizon }) => horizon },
  { heading: 'Challenger', cell: ({ challenger, against }) => `${challenger} against ${against}` },
  { heading: 'Days', cell: ({ days }) => formatCount(days), numeric: true },
  { heading: 'Better', cell: ({ eBetter }) => formatDecimal(eBetter, 2), numeric: true },
  { heading: 'Worse', cell: ({ eWorse }) => formatDecimal(eWorse, 2), numeric: true },
  { heading: 'Verdict', cell: ({ verdict, since }) => (since === null ? verdict : `${verdict} since ${since}`) },
];

const DISTRIBUTION_COLUMNS: readonly Column<DistributionRow>[] = [
  { heading: 'Horizon', cell: ({ horizon }) => horizon },
  { heading: 'Distribution', cell: ({ name, title }) => `${name}: ${title}` },
  { heading: 'n', cell: ({ n }) => formatCount(n), numeric: true },
  { heading: 'CRPS', cell: ({ crps }) => formatDecimal(crps, 5), numeric: true },
  { heading: 'Skill', cell: ({ skill }) => formatPercent(skill?.value, 2), numeric: true },
  { heading: 'from', cell: ({ skill }) => formatPercent(skill?.low, 2), numeric: true },
  { heading: 'to', cell: ({ skill }) => formatPercent(skill?.high, 2), numeric: true },
  { heading: 'Log score', cell: ({ logScore }) => formatDecimal(logScore, 3), numeric: true },
  { heading: 'Within 80 %', cell: ({ coverage }) => formatPercent(coverage.find(({ nominal }) => nominal === 0.8)?.value), numeric: true },
];
