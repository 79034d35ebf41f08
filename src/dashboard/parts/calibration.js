import { calibrationDiagram } from '../charts/diagonal.js';
import { figure } from '../charts/figure.js';
import { forest, shortPercent, signedPercent } from '../charts/forest.js';
import { bodyOf, h } from '../lib/dom.js';
import { count, decimal, percent, percentInterval } from '../lib/format.js';
import { notYet, show } from '../lib/section.js';
import { skillRows } from '../record/skill.js';

/** @import { Answers } from '../state/answers.ts' */
/** @import { Column } from '../lib/table.js' */
/** @import { SkillRow } from '../record/skill.js' */
/** @import { Page } from './main.js' */

/** @typedef {Answers['scorecard']} Scorecard */
/** @typedef {NonNullable<Scorecard['statistics']['probabilities']>} Probabilities */
/** @typedef {NonNullable<Scorecard['statistics']['distribution']>} Distribution */

/** Below so many independent outcomes a diagram would only mislead. */
const LEAST = 5;

/** @param {Page} page */
export function mountCalibration({ store }) {
  show({ store, name: 'scorecard', body: bodyOf('calibration'), draw: drawn });
}

/** @param {Scorecard} scorecard */
function drawn(scorecard) {
  const { probabilities, distribution } = scorecard.statistics;
  if (probabilities === null) return notYet('No outcome is known yet: calibration and skill begin with the first.');
  return [
    skillFigure(scorecard),
    marketNote(scorecard),
    probabilities.effectiveN < LEAST
      ? h('p', { class: 'empty' }, tooFew('probabilities', probabilities))
      : h('div', { class: 'pair' }, reliabilityFigure(probabilities), distribution === null ? null : quantileFigure(distribution)),
    distribution === null || distribution.effectiveN < LEAST ? null : coverageFigure(distribution),
  ];
}

/** @param {string} what @param {{ n: number, effectiveN: number }} worth */
function tooFew(what, { n, effectiveN }) {
  return `Whether the ${what} are calibrated: too few to tell. ${count(n)} ${n === 1 ? 'outcome' : 'outcomes'} whose windows overlap are worth about ${decimal(effectiveN, 1)} independent ones.`;
}

/** @param {Scorecard} scorecard */
function skillFigure(scorecard) {
  const rows = skillRows(scorecard);
  const told = rows.filter(({ proves, low, high }) => proves && low !== null && high !== null && (low > 0 || high < 0));
  return figure({
    title: 'Skill: is it better than knowing nothing?',
    summary:
      told.length === 0
        ? 'Nothing here can be told from zero: no skill is shown.'
        : `${told.map(({ label, value }) => `${label}: ${(value ?? 0) > 0 ? 'better' : 'worse'}`).join('; ')}; the rest cannot be told from zero.`,
    legend: [
      { label: 'skill, 95 % interval', mark: 'mark-estimate' },
      { label: 'proves nothing', mark: 'mark-quiet-estimate' },
    ],
    draw: (width) => forest({ width, rows, reference: 0, sides: ['worse', 'better'], tick: signedPercent, domain: domainOf(rows) }),
    note: 'Only a bar that stays clear of the line at zero shows a difference; one that reaches it is what luck alone would do too.',
    columns: SKILL_COLUMNS,
    rows,
  });
}

/**
 * As wide as what can prove something needs: the rest may end in an arrow.
 * @param {readonly SkillRow[]} rows
 * @returns {[number, number]}
 */
function domainOf(rows) {
  const values = rows.flatMap(({ value, low, high, proves }) => (proves ? [value, low, high] : []).filter((one) => one !== null));
  const most = Math.max(0.05, ...values.map(Math.abs)) * 1.15;
  return [-most, most];
}

/** @type {readonly Column<SkillRow>[]} */
const SKILL_COLUMNS = [
  { heading: 'Comparison', cell: ({ label }) => label },
  { heading: 'In', cell: ({ unit }) => unit },
  { heading: 'Value', cell: ({ estimate }) => percent(estimate?.value, 2), numeric: true },
  { heading: '95 % from', cell: ({ estimate }) => percent(estimate?.low, 2), numeric: true },
  { heading: 'to', cell: ({ estimate }) => percent(estimate?.high, 2), numeric: true },
  { heading: 'n', cell: ({ n }) => count(n), numeric: true },
  { heading: 'In words', cell: ({ words }) => words ?? '' },
];

/** The other comparison with prices of markets: every market rather than one a week, without an interval. @param {Scorecard} scorecard */
function marketNote({
  predictionMarket: { settledMarkets, modelLogLoss, marketLogLoss, weightGivenToModel, quotesAreOurs, venue, throughDate },
}) {
  if (settledMarkets === 0) return h('p', { class: 'note' }, 'No market that wagers were considered on is settled yet.');
  const ours = quotesAreOurs ? ' These prices are our own too, and prove nothing.' : '';
  return h(
    'p',
    { class: 'note' },
    `The weekly comparison takes one strike a week. Another one takes all ${count(settledMarkets)} settled markets that wagers were considered on (${venue}, up to ${throughDate}), several of which share an outcome: log loss ${decimal(modelLogLoss, 4)} of the model, ${decimal(marketLogLoss, 4)} of the prices, lower is better. From it follows how far wagers believe the model against the price: ${percent(weightGivenToModel, 0)}.${ours}`,
  );
}

/** @param {Probabilities} probabilities */
function reliabilityFigure({ reliability, n }) {
  return figure({
    title: 'Probabilities of UP: what was said, and how often it rose',
    summary: reliabilitySummary(reliability, n),
    legend: LEGEND,
    draw: (width) =>
      calibrationDiagram({
        width,
        points: reliability.map(({ meanProbability, observedShare, interval95, n: members }) => ({
          ...{ said: meanProbability, happened: observedShare, label: `n ${count(members)}` },
          ...interval95,
        })),
        saidTitle: 'probability said',
        happenedTitle: 'share of days it rose',
      }),
    columns: [
      { heading: 'Bin', cell: ({ from, to }) => `${percent(from, 0)} to ${percent(to, 0)}` },
      { heading: 'Said, mean', cell: ({ meanProbability }) => percent(meanProbability), numeric: true },
      { heading: 'Rose', cell: ({ observedShare }) => percent(observedShare), numeric: true },
      { heading: '95 % interval', cell: ({ interval95 }) => percentInterval(interval95), numeric: true },
      { heading: 'n', cell: ({ n: members }) => count(members), numeric: true },
      { heading: 'Worth', cell: ({ effectiveN }) => decimal(effectiveN, 1), numeric: true },
    ],
    rows: reliability,
  });
}

const LEGEND = [
  { label: 'observed, 95 % interval', mark: 'mark-dot' },
  { label: 'perfect', mark: 'mark-diagonal' },
];

/** @param {Probabilities['reliability']} rows @param {number} n */
function reliabilitySummary(rows, n) {
  if (rows.length === 1) {
    const [{ meanProbability, observedShare, interval95 }] = rows;
    return `All ${count(n)} lie in one bin: ${percent(meanProbability)} was said, ${percent(observedShare)} rose, 95\u00a0% interval ${percentInterval(interval95)}. So close together, they hardly tell one day from another.`;
  }
  const off = rows.filter(({ meanProbability, interval95 }) => meanProbability < interval95.low || meanProbability > interval95.high);
  return `${onTheLine(rows.length, off.length, 'bins')} ${count(n)} forecasts.`;
}

/** @param {number} all @param {number} off @param {string} what */
function onTheLine(all, off, what) {
  return off === 0
    ? `The intervals of all ${all} ${what} reach the diagonal.`
    : `The intervals of ${off} of ${all} ${what} miss the diagonal.`;
}

/** @param {Distribution} distribution */
function quantileFigure({ quantiles, n }) {
  const off = quantiles.filter(({ level, interval95 }) => level < interval95.low || level > interval95.high);
  return figure({
    title: 'Quantiles: share that should fall below, and that did',
    summary: `${onTheLine(quantiles.length, off.length, 'quantiles')} ${count(n)} outcomes.`,
    legend: LEGEND,
    draw: (width) =>
      calibrationDiagram({
        width,
        points: quantiles.map(({ level, observed, interval95 }) => ({ said: level, happened: observed, label: '', ...interval95 })),
        saidTitle: 'quantile',
        happenedTitle: 'share of outcomes below it',
      }),
    columns: [
      { heading: 'Quantile', cell: ({ level }) => percent(level, 0) },
      { heading: 'Below it', cell: ({ observed }) => percent(observed), numeric: true },
      { heading: '95 % interval', cell: ({ interval95 }) => percentInterval(interval95), numeric: true },
    ],
    rows: quantiles,
  });
}

/** @param {Distribution} distribution */
function coverageFigure({ coverage, n, effectiveN }) {
  const rows = coverage.map(({ nominal, observed, interval95 }) => ({
    ...{ label: `Middle ${percent(nominal, 0)}`, value: observed, mark: nominal, nominal, ...interval95 },
    figures: `${percent(observed)} of outcomes`,
    words: percentInterval(interval95),
  }));
  const off = rows.filter(({ nominal, low, high }) => nominal < low || nominal > high);
  return figure({
    title: 'Bands: how many outcomes they held',
    summary: `${off.length === 0 ? `All ${rows.length} bands hold what they should, as far as ${count(n)} outcomes can tell` : `${off.length} of ${rows.length} bands do not hold what they should`}; with their overlap these are worth ${decimal(effectiveN, 0)}.`,
    legend: [
      { label: 'held, 95 % interval', mark: 'mark-estimate' },
      { label: 'what it should hold', mark: 'mark-own' },
    ],
    draw: (width) => forest({ width, rows, reference: null, tick: shortPercent, domain: [0, 1] }),
    columns: [
      { heading: 'Band', cell: ({ label }) => label },
      { heading: 'Should hold', cell: ({ nominal }) => percent(nominal, 0), numeric: true },
      { heading: 'Held', cell: ({ value }) => percent(value), numeric: true },
      { heading: '95 % interval', cell: (row) => percentInterval(row), numeric: true },
    ],
    rows,
  });
}
