import { formatRegime } from '../../markup.ts';
import { renderForestPlot } from '../charts/calibration.ts';
import { createFigure } from '../charts/figure.ts';
import { formatCount, formatDecimal, formatPercent, formatPercentInterval, h, toSentence } from '../dom.ts';
import { renderNotYet, renderTable } from '../section.ts';
import { createReliabilityFigure, formatSignedShare } from './skill.ts';

interface MoveSkill {
  n: number;
  brier: number | null;
  references: Record<keyof typeof REFERENCES, ReferenceScore | null>;
  /** GARCH is shown without a test. */
  tests: Partial<Record<keyof typeof REFERENCES, { days: number; verdict: string; since: string | null; eBetter: number; eWorse: number }>>;
  reliability: Parameters<typeof createReliabilityFigure>[0]['reliability'];
  bySize: readonly { moveSize: string; n: number; bigShare: number | null; interval95: { low: number; high: number } | null }[];
}

/** `value`: 1 - `own` / `brier`. */
interface ReferenceScore {
  n: number;
  own: number;
  brier: number;
  value: number;
  low: number | null;
  high: number | null;
}

interface MoveRecord {
  horizon: string;
  moveSkill?: MoveSkill;
  moveVerdict?: string;
}

const REFERENCES = { frequency: 'Four-year frequency', ewma: 'EWMA volatility', garch: 'GARCH' } as const;

/** What the record shows of P(big move), which has no direction. Absent from a service that does not score it. */
export function renderMoveSkill({ moveSkill, moveVerdict = '' }: MoveRecord) {
  if (moveSkill === undefined || moveSkill.n === 0) return renderNotYet('No outcome with a size of the move is known yet.');
  return [
    h('p', {}, toSentence(moveVerdict)),
    h('div', { class: 'pair' }, createReferenceFigure(moveSkill), renderSizes(moveSkill)),
    h('details', { class: 'more-of' }, [h('summary', {}, 'Reliability of P(big move)'), createReliabilityOfMoves(moveSkill)]),
  ];
}

function createReferenceFigure({ references, tests }: MoveSkill) {
  const rows = Object.entries(REFERENCES).map(([name, label]) => {
    const [score, test] = [references[name as keyof typeof REFERENCES], tests[name as keyof typeof REFERENCES]];
    const { value = null, low = null, high = null } = score ?? {};
    const verdict = test === undefined ? 'not tested' : test.since === null ? test.verdict : `${test.verdict} since ${test.since}`;
    const isDrawn = value !== null && low !== null && high !== null;
    const interval = isDrawn ? ` (${formatSignedShare(low)} to ${formatSignedShare(high)})` : ', no interval yet';
    const figures = value === null ? 'not known yet' : `${formatSignedShare(value)}${interval}`;
    return { ...{ label, low, high, figures, score, test, verdict }, value: isDrawn ? value : null, remark: verdict };
  });
  return createFigure({
    title: 'P(big move) against its references',
    summary: 'A bar clear of zero differs on these days; the verdict counts no replayed day.',
    legend: [{ label: 'lower Brier score than the reference, 95 % interval', mark: 'mark-estimate' }],
    draw: (width) => renderForestPlot({ width, rows, reference: 0, sides: ['worse', 'better'], tick: formatSignedShare }),
    columns: [
      { heading: 'Reference', cell: ({ label }) => label },
      { heading: 'n', cell: ({ score }) => formatCount(score?.n), numeric: true },
      { heading: 'Brier', cell: ({ score }) => formatDecimal(score?.own, 4), numeric: true },
      { heading: 'of reference', cell: ({ score }) => formatDecimal(score?.brier, 4), numeric: true },
      { heading: 'Lower by', cell: ({ score }) => formatPercent(score?.value), numeric: true },
      { heading: '95 % from', cell: ({ low }) => formatPercent(low), numeric: true },
      { heading: 'to', cell: ({ high }) => formatPercent(high), numeric: true },
      { heading: 'Days tested', cell: ({ test }) => formatCount(test?.days), numeric: true },
      { heading: 'Evidence better', cell: ({ test }) => formatDecimal(test?.eBetter, 2), numeric: true },
      { heading: 'worse', cell: ({ test }) => formatDecimal(test?.eWorse, 2), numeric: true },
      { heading: 'Verdict', cell: ({ verdict }) => verdict },
    ],
    rows,
  });
}

function renderSizes({ bySize }: MoveSkill) {
  return renderTable({
    caption: 'Big moves by size',
    columns: [
      { heading: 'Size', cell: ({ moveSize }) => formatRegime(moveSize) },
      { heading: 'Days', cell: ({ n }) => formatCount(n), numeric: true },
      { heading: 'Big moves', cell: ({ bigShare }) => formatPercent(bigShare, 0), numeric: true },
      { heading: '95 % interval', cell: ({ interval95 }) => formatPercentInterval(interval95, 0), numeric: true },
    ],
    rows: bySize,
  });
}

function createReliabilityOfMoves({ reliability, n }: MoveSkill) {
  const titles = { title: 'P(big move): forecast and observed', saidTitle: 'P(big move)', happenedTitle: 'share of big moves' };
  return createReliabilityFigure({ reliability, n, ...titles });
}
