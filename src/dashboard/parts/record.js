import { figure } from '../charts/figure.js';
import { forest } from '../charts/forest.js';
import { bodyOf, h } from '../lib/dom.js';
import { count, decimal, percent, percentInterval } from '../lib/format.js';
import { notYet, show } from '../lib/section.js';
import { sentence } from '../lib/words.js';
import { LEAST_OUTCOMES, recordFacts, TOO_FEW } from '../record/record-facts.js';
import { alwaysUpShare, regimeName } from '../record/record-rows.js';

/** @import { Answers } from '../state/answers.ts' */
/** @import { ForestRow } from '../charts/forest.js' */
/** @import { Page } from './main.js' */

/** @typedef {Answers['scorecard']} Scorecard */
/** A share with its uncertainty. @typedef {Pick<Scorecard['byHorizon'][number], 'resolved' | 'wins' | 'accuracy' | 'dedupedTotal' | 'accuracyInterval95' | 'brier'>} Share */
/** A line of a forest plot, with the row that it is made of. @typedef {ForestRow & { of: Share, total: number }} ShareRow */

const HOW_TO_READ =
  'A bar is where the true share may plausibly lie (95\u00a0%). One that reaches the line at 50\u00a0% cannot be told from tossing a coin, one that reaches its diamond not from always saying UP; of horizons only the shown one has a diamond.';

/** @param {Page} page */
export function mountRecord({ store }) {
  show({ store, name: 'scorecard', body: bodyOf('record'), draw: drawn });
}

/** @param {Scorecard} scorecard */
function drawn(scorecard) {
  const { summary } = scorecard;
  if (summary.totalPredictions === 0) return notYet('No forecast has been made yet: there is no record to judge.');
  return [
    ...verdictOf(summary.verdict),
    tallyOf(summary),
    recordFacts(scorecard),
    h('div', { class: 'pair' }, byHorizon(scorecard), byRegime(scorecard)),
    h('p', { class: 'note' }, HOW_TO_READ),
  ];
}

/** The claim large, what it rests on below: the words are the service's own. @param {string} verdict */
function verdictOf(verdict) {
  const [claim, ...rest] = verdict.replace('always-UP:', 'always saying UP:').split(': ');
  const sentences = rest
    .join(': ')
    .split('; ')
    .filter((part) => part !== '');
  return [
    h('p', { class: 'verdict' }, sentence(claim)),
    sentences.length === 0 ? null : h('p', { class: 'lead' }, sentences.map(sentence).join(' ')),
  ];
}

/** @param {Scorecard['summary']} summary */
function tallyOf({ totalPredictions, wins, losses, holds, voids, missed, pending }) {
  const parts = [
    { mark: 'tally-win', n: wins, word: 'right' },
    { mark: 'tally-loss', n: losses, word: 'wrong' },
    { mark: 'tally-hold', n: holds, word: 'HOLD (abstained)' },
    { mark: 'tally-void', n: voids, word: missed > 0 ? `void, ${count(missed)} of them missed days` : 'void' },
    { mark: 'tally-open', n: pending, word: 'not over yet' },
  ];
  return h(
    'ul',
    { class: 'tally', 'aria-label': `What became of all ${count(totalPredictions)} forecasts` },
    h('li', {}, h('strong', {}, count(totalPredictions)), ' forecasts, none left out:'),
    parts.map(({ mark, n, word }) =>
      h(
        'li',
        { class: n === 0 ? 'none' : null },
        h('span', { class: `mark ${mark}`, 'aria-hidden': 'true' }),
        h('strong', {}, count(n)),
        ` ${word}`,
      ),
    ),
  );
}

/** @param {Scorecard} scorecard */
function byHorizon({ byHorizon: rows, horizon, predictions }) {
  return forestFigure({
    title: 'Right calls by horizon',
    of: 'horizons',
    rows: rows.map((row) =>
      shareRow({
        label: `${row.horizon.replace('d', '')} ${row.horizon === '1d' ? 'day' : 'days'}${row.horizon === horizon ? ' (shown)' : ''}`,
        share: row,
        total: row.total,
        alwaysUp: row.horizon === horizon ? alwaysUpShare(predictions) : null,
        none: row.holds > 0 ? `no call: ${count(row.holds)} HOLD` : 'no call is over yet',
      }),
    ),
  });
}

/** @param {Scorecard} scorecard */
function byRegime({ byRegime: rows, horizon, predictions }) {
  return forestFigure({
    title: `Right calls by market regime, ${horizon.replace('d', '')} days`,
    of: 'regimes',
    rows: rows.map((row) =>
      shareRow({
        label: regimeName(row.regime),
        share: row,
        total: row.total,
        alwaysUp: alwaysUpShare(predictions.filter(({ regime }) => regime === row.regime)),
        none: row.brier === null ? 'no call is over yet' : `no call: ${count(row.brier.n)} HOLD`,
      }),
    ),
  });
}

/** @param {{ label: string, share: Share, total: number, alwaysUp: number | null, none: string }} options @returns {ShareRow} */
function shareRow({ label, share, total, alwaysUp, none }) {
  const { accuracy, accuracyInterval95, dedupedTotal, resolved } = share;
  // A share of nothing is 0 in the scorecard's summary, and no measurement.
  const isScored = accuracy !== null && resolved > 0;
  const enough = isScored && dedupedTotal >= LEAST_OUTCOMES;
  return {
    label,
    value: enough ? accuracy : null,
    low: enough ? (accuracyInterval95?.low ?? null) : null,
    high: enough ? (accuracyInterval95?.high ?? null) : null,
    mark: enough ? alwaysUp : null,
    figures: !isScored
      ? none
      : enough
        ? `${percent(accuracy)} of ${count(resolved)} (${percentInterval(accuracyInterval95, 0)})`
        : `${TOO_FEW}: ${count(dedupedTotal)} without overlap`,
    of: share,
    total,
  };
}

/** @param {{ title: string, of: string, rows: readonly ShareRow[] }} options */
function forestFigure({ title, of, rows }) {
  const drawnRows = rows.filter(({ value }) => value !== null);
  return figure({
    title,
    summary: forestSummary(drawnRows, of),
    legend:
      drawnRows.length === 0
        ? []
        : [
            { label: 'right calls, 95 % interval', mark: 'mark-estimate' },
            ...(rows.some(({ mark }) => typeof mark === 'number')
              ? [{ label: `always saying UP${of === 'regimes' ? '' : ', horizon shown'}`, mark: 'mark-own' }]
              : []),
          ],
    draw: (width) =>
      forest({ width, rows, reference: 0.5, tick: (value) => percent(value, 0), domain: drawnRows.length === 0 ? [0, 1] : undefined }),
    columns: [
      { heading: of === 'regimes' ? 'Regime' : 'Horizon', cell: ({ label }) => label },
      { heading: 'Right', cell: ({ of: share }) => count(share.wins), numeric: true },
      { heading: 'Calls', cell: ({ of: share }) => count(share.resolved), numeric: true },
      { heading: 'Without overlap', cell: ({ of: share }) => count(share.dedupedTotal), numeric: true },
      { heading: 'Share', cell: ({ of: share }) => percent(share.accuracy), numeric: true },
      { heading: '95 % interval', cell: ({ of: share }) => percentInterval(share.accuracyInterval95), numeric: true },
      { heading: 'Always UP', cell: ({ mark }) => percent(mark), numeric: true },
      { heading: 'Brier', cell: ({ of: share }) => decimal(share.brier?.model, 4), numeric: true },
      { heading: 'Base rate', cell: ({ of: share }) => decimal(share.brier?.climatology, 4), numeric: true },
      { heading: 'Forecasts', cell: ({ total }) => count(total), numeric: true },
    ],
    rows,
  });
}

/**
 * @param {readonly ShareRow[]} rows those with a share
 * @param {string} of
 */
function forestSummary(rows, of) {
  if (rows.length === 0) return `No share can be told yet: ${TOO_FEW}.`;
  const clear = rows.filter(({ low, high }) => low !== null && high !== null && (low > 0.5 || high < 0.5));
  if (clear.length === 0 && rows.length === 1)
    return `${rows[0].label}, the only one with enough calls, cannot be told from tossing a coin.`;
  if (clear.length === 0) return `None of the ${rows.length} ${of} with enough calls can be told from tossing a coin.`;
  const words = clear.map(({ label, value }) => `${label} (${(value ?? 0) > 0.5 ? 'above' : 'below'})`).join(', ');
  return `Clear of 50\u00a0%: ${words}; of ${rows.length} ${of}, one in twenty is by chance alone.`;
}
