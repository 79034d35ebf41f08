import { createFigure } from '../charts/figure.js';
import { renderForestPlot } from '../charts/forest-plot.js';
import { getSectionBody, h } from '../lib/dom.js';
import { formatCount, formatDecimal, formatPercent, formatPercentInterval } from '../lib/format.js';
import { formatRegime, toSentence } from '../lib/format-text.js';
import { mountResource, renderNotYet } from '../lib/section.js';
import { MIN_OUTCOMES, renderRecordFacts, TOO_FEW_TEXT } from '../record/record-facts.js';
import { computeAlwaysUpShare } from '../record/record-rows.js';

/** @import { ApiResponses } from '../state/responses.ts' */
/** @import { ForestRow } from '../charts/forest-plot.js' */
/** @import { Page } from './main.js' */

/** @typedef {ApiResponses['scorecard']} Scorecard */
/**
 * @typedef {Pick<Scorecard['byHorizon'][number], 'resolved' | 'wins' | 'accuracy' | 'dedupedTotal' | 'accuracyInterval95' | 'brier'>} Share
 */
/** A row of the plot and its source. @typedef {ForestRow & { of: Share, total: number }} ShareRow */

const READING_NOTE =
  'Bars are 95\u00a0% intervals. A bar that reaches the 50\u00a0% line does not differ measurably from a coin toss; one that reaches its diamond, from always UP. Only the selected horizon has a diamond.';

/** @param {Page} page */
export function mountRecord({ store }) {
  mountResource({ store, name: 'scorecard', body: getSectionBody('record'), draw: renderRecord });
}

/** @param {Scorecard} scorecard */
function renderRecord(scorecard) {
  const { summary } = scorecard;
  if (summary.totalPredictions === 0) return renderNotYet('No forecast has been made yet, so there is no record.');
  return [
    ...renderVerdict(summary.verdict),
    renderTally(summary),
    renderRecordFacts(scorecard),
    h('div', { class: 'pair' }, createHorizonFigure(scorecard), createRegimeFigure(scorecard)),
    h('p', { class: 'note' }, READING_NOTE),
  ];
}

/** Splits the verdict of the service into a headline and supporting sentences. @param {string} verdict */
function renderVerdict(verdict) {
  const [claim, ...rest] = verdict.replace('always-UP:', 'always UP:').split(': ');
  const sentences = rest
    .join(': ')
    .split('; ')
    .filter((part) => part !== '');
  return [
    h('p', { class: 'verdict' }, toSentence(claim)),
    sentences.length === 0 ? null : h('p', { class: 'lead' }, sentences.map(toSentence).join(' ')),
  ];
}

/** @param {Scorecard['summary']} summary */
function renderTally({ totalPredictions, wins, losses, holds, voids, missed, pending }) {
  const tallies = [
    { mark: 'tally-win', n: wins, word: 'right' },
    { mark: 'tally-loss', n: losses, word: 'wrong' },
    { mark: 'tally-hold', n: holds, word: 'HOLD' },
    { mark: 'tally-void', n: voids, word: missed > 0 ? `void, ${formatCount(missed)} of them missed days` : 'void' },
    { mark: 'tally-open', n: pending, word: 'committed' },
  ];
  return h(
    'ul',
    { class: 'tally', 'aria-label': `Status of all ${formatCount(totalPredictions)} forecasts` },
    h('li', {}, h('strong', {}, formatCount(totalPredictions)), ' forecasts, none left out:'),
    tallies.map(({ mark, n, word }) =>
      h(
        'li',
        { class: n === 0 ? 'none' : null },
        h('span', { class: `mark ${mark}`, 'aria-hidden': 'true' }),
        h('strong', {}, formatCount(n)),
        ` ${word}`,
      ),
    ),
  );
}

/** @param {Scorecard} scorecard */
function createHorizonFigure({ byHorizon: rows, horizon, predictions }) {
  return createForestFigure({
    title: 'Right calls by horizon',
    of: 'horizons',
    rows: rows.map((row) =>
      buildShareRow({
        label: `${row.horizon.replace('d', '')} ${row.horizon === '1d' ? 'day' : 'days'}${row.horizon === horizon ? ' (selected)' : ''}`,
        share: row,
        total: row.total,
        alwaysUp: row.horizon === horizon ? computeAlwaysUpShare(predictions) : null,
        none: row.holds > 0 ? `no call: ${formatCount(row.holds)} HOLD` : 'no call resolved yet',
      }),
    ),
  });
}

/** @param {Scorecard} scorecard */
function createRegimeFigure({ byRegime: rows, horizon, predictions }) {
  return createForestFigure({
    title: `Right calls by market regime, ${horizon.replace('d', '')} days`,
    of: 'regimes',
    rows: rows.map((row) =>
      buildShareRow({
        label: row.regime === null ? 'Nothing forecast' : formatRegime(row.regime),
        share: row,
        total: row.total,
        alwaysUp: computeAlwaysUpShare(predictions.filter(({ regime }) => regime === row.regime)),
        none: row.brier === null ? 'no call resolved yet' : `no call: ${formatCount(row.brier.n)} HOLD`,
      }),
    ),
  });
}

/** @param {{ label: string, share: Share, total: number, alwaysUp: number | null, none: string }} options @returns {ShareRow} */
function buildShareRow({ label, share, total, alwaysUp, none }) {
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

/** @param {{ title: string, of: string, rows: readonly ShareRow[] }} options */
function createForestFigure({ title, of, rows }) {
  const drawnRows = rows.filter(({ value }) => value !== null);
  return createFigure({
    title,
    summary: formatForestSummary(drawnRows, of),
    legend:
      drawnRows.length === 0
        ? []
        : [
            { label: 'right calls, 95 % interval', mark: 'mark-estimate' },
            ...(rows.some(({ mark }) => typeof mark === 'number')
              ? [{ label: `always UP${of === 'regimes' ? '' : ', selected horizon'}`, mark: 'mark-own' }]
              : []),
          ],
    draw: (width) =>
      renderForestPlot({
        width,
        rows,
        reference: 0.5,
        tick: (value) => formatPercent(value, 0),
        domain: drawnRows.length === 0 ? [0, 1] : undefined,
      }),
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

/** @param {readonly ShareRow[]} rows with a share @param {string} of */
function formatForestSummary(rows, of) {
  if (rows.length === 0) return `No share yet: ${TOO_FEW_TEXT}.`;
  const clear = rows.filter(({ low, high }) => low !== null && high !== null && (low > 0.5 || high < 0.5));
  if (clear.length === 0 && rows.length === 1)
    return `${rows[0].label}, the only one with enough calls, does not differ measurably from a coin toss.`;
  if (clear.length === 0) return `None of the ${rows.length} ${of} with enough calls differs measurably from a coin toss.`;
  const text = clear.map(({ label, value }) => `${label} (${(value ?? 0) > 0.5 ? 'above' : 'below'})`).join(', ');
  return `Clear of 50\u00a0%: ${text}; of ${rows.length} ${of}, one in twenty would be so by chance.`;
}
