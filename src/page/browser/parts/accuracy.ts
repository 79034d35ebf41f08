import { el, formatCount, formatDecimal, formatPercent, formatPercentInterval, formatRegime, toSentence } from '../../markup.ts';
import { type ForestRow, renderForestPlot } from '../charts/calibration.ts';
import { renderFigure } from '../charts/figure.ts';
import { MIN_OUTCOMES, renderRecordFacts, TOO_FEW_TEXT } from '../record.ts';
import type { ApiResponses, ScorecardRow } from '../responses.ts';
import { renderNotYet } from '../view.ts';

type Scorecard = ApiResponses['scorecard'];
type Share = Pick<Scorecard['byHorizon'][number], 'resolved' | 'wins' | 'accuracy' | 'dedupedTotal' | 'accuracyInterval95' | 'brier'>;
/** A row of the plot and its source. */
type ShareRow = ForestRow & { of: Share; total: number };

const READING_NOTE =
  'Bars are 95\u00a0% intervals. A bar that reaches the 50\u00a0% line does not differ measurably from a coin toss; one that reaches its diamond, from always UP. Only the selected horizon has a diamond.';

/** Accuracy of all calls, by horizon and by regime. */
export function renderAccuracy(scorecard: Scorecard) {
  const { summary } = scorecard;
  if (summary.totalPredictions === 0) return renderNotYet('No forecast has been made yet, so there is no record.');
  return [
    ...renderVerdict(summary.verdict),
    renderRecordFacts(scorecard),
    el('div', { class: 'pair' }, createHorizonFigure(scorecard), createRegimeFigure(scorecard)),
    el('p', { class: 'note' }, READING_NOTE),
  ];
}

/** Splits the verdict of the service into a headline and supporting sentences. */
function renderVerdict(verdict: string) {
  const [claim, ...rest] = verdict.replace('always-UP:', 'always UP:').split(': ');
  const sentences = rest
    .join(': ')
    .split('; ')
    .filter((part) => part !== '');
  return [
    el('p', { class: 'verdict' }, toSentence(claim)),
    sentences.length === 0 ? null : el('p', { class: 'lead' }, sentences.map(toSentence).join(' ')),
  ];
}

function createHorizonFigure({ byHorizon: rows, horizon, predictions }: Scorecard) {
  const shares = rows.map((row) =>
    buildShareRow({
      label: `${row.horizon.replace('d', '')} ${row.horizon === '1d' ? 'day' : 'days'}${row.horizon === horizon ? ' (selected)' : ''}`,
      share: row,
      total: row.total,
      alwaysUp: row.horizon === horizon ? computeAlwaysUpShare(predictions) : null,
      none: row.holds > 0 ? `no call: ${formatCount(row.holds)} HOLD` : 'no call resolved yet',
    }),
  );
  return createForestFigure('Right calls by horizon', 'horizons', shares);
}

/** Accuracy of always predicting UP on the scored forecasts. @returns 0 to 1; null without scored forecasts */
export function computeAlwaysUpShare(rows: readonly ScorecardRow[]): number | null {
  const scored = rows.filter(({ outcome }) => outcome !== null);
  if (scored.length === 0) return null;
  return scored.filter(({ outcome }) => outcome?.actualDirection === 'UP').length / scored.length;
}

function createRegimeFigure({ byRegime: rows, horizon, predictions }: Scorecard) {
  const shares = rows.map((row) =>
    buildShareRow({
      label: row.regime === null ? 'Nothing forecast' : formatRegime(row.regime),
      share: row,
      total: row.total,
      alwaysUp: computeAlwaysUpShare(predictions.filter(({ regime }) => regime === row.regime)),
      none: row.brier === null ? 'no call resolved yet' : `no call: ${formatCount(row.brier.n)} HOLD`,
    }),
  );
  return createForestFigure(`Right calls by market regime, ${horizon.replace('d', '')} days`, 'regimes', shares);
}

function buildShareRow(row: { label: string; share: Share; total: number; alwaysUp: number | null; none: string }): ShareRow {
  const { label, share, total, alwaysUp, none } = row;
  const { accuracy, accuracyInterval95, dedupedTotal, resolved } = share;
  // With no resolved call the summary reports an accuracy of 0, which is not a measurement.
  const isScored = accuracy !== null && resolved > 0;
  const enough = isScored && dedupedTotal >= MIN_OUTCOMES;
  return {
    label,
    value: enough ? accuracy : null,
    low: enough ? (accuracyInterval95?.low ?? null) : null,
    high: enough ? (accuracyInterval95?.high ?? null) : null,
    mark: enough ? alwaysUp : null,
    figures: !isScored
      ? none
      : enough
        ? `${formatPercent(accuracy)} of ${formatCount(resolved)} (${formatPercentInterval(accuracyInterval95, 0)})`
        : `${TOO_FEW_TEXT}: ${formatCount(dedupedTotal)} without overlap`,
    of: share,
    total,
  };
}

function createForestFigure(title: string, of: 'horizons' | 'regimes', rows: readonly ShareRow[]) {
  const drawnRows = rows.filter(({ value }) => value !== null);
  const always = { label: `always UP${of === 'regimes' ? '' : ', selected horizon'}`, mark: 'mark-own' };
  const legend = [{ label: 'right calls, 95 % interval', mark: 'mark-estimate' }];
  if (rows.some(({ mark }) => typeof mark === 'number')) legend.push(always);
  const tick = (value: number) => formatPercent(value, 0);
  const domain = drawnRows.length === 0 ? ([0, 1] as const) : undefined;
  return renderFigure({
    title,
    summary: formatForestSummary(drawnRows, of),
    legend: drawnRows.length === 0 ? [] : legend,
    draw: (width) => renderForestPlot({ width, rows, reference: 0.5, tick, domain }),
    columns: [
      { heading: of === 'regimes' ? 'Regime' : 'Horizon', cell: ({ label }) => label },
      { heading: 'Right', cell: ({ of: share }) => formatCount(share.wins), numeric: true },
      { heading: 'Calls', cell: ({ of: share }) => formatCount(share.resolved), numeric: true },
      { heading: 'Without overlap', cell: ({ of: share }) => formatCount(share.dedupedTotal), numeric: true },
      { heading: 'Share', cell: ({ of: share }) => formatPercent(share.accuracy), numeric: true },
      { heading: '95 % interval', cell: ({ of: share }) => formatPercentInterval(share.accuracyInterval95), numeric: true },
      { heading: 'Always UP', cell: ({ mark }) => formatPercent(mark), numeric: true },
      { heading: 'Brier', cell: ({ of: share }) => formatDecimal(share.brier?.model, 4), numeric: true },
      { heading: 'Base rate', cell: ({ of: share }) => formatDecimal(share.brier?.climatology, 4), numeric: true },
      { heading: 'Forecasts', cell: ({ total }) => formatCount(total), numeric: true },
    ],
    rows,
  });
}

/** @param rows with a share */
function formatForestSummary(rows: readonly ShareRow[], of: string) {
  if (rows.length === 0) return `No share yet: ${TOO_FEW_TEXT}.`;
  const clear = rows.filter(({ low, high }) => low !== null && high !== null && (low > 0.5 || high < 0.5));
  if (clear.length === 0 && rows.length === 1)
    return `${rows[0].label}, the only one with enough calls, does not differ measurably from a coin toss.`;
  if (clear.length === 0) return `None of the ${rows.length} ${of} with enough calls differs measurably from a coin toss.`;
  const text = clear.map(({ label, value }) => `${label} (${(value ?? 0) > 0.5 ? 'above' : 'below'})`).join(', ');
  return `Clear of 50\u00a0%: ${text}; of ${rows.length} ${of}, one in twenty would be so by chance.`;
}
