import { renderCalibrationDiagram } from '../../charts/calibration-diagram.ts';
import { createFigure } from '../../charts/figure.ts';
import { formatShortPercent, formatSignedShare, renderForestPlot } from '../../charts/forest-plot.ts';
import { getSectionBody, h } from '../../lib/dom.ts';
import { formatCount, formatDecimal, formatPercent, formatPercentInterval } from '../../lib/format.ts';
import { mountWholeRecord, renderNotYet } from '../../lib/section.ts';
import type { Column } from '../../lib/table.ts';
import { buildSkillRows, type SkillRow } from '../../record/skill-rows.ts';
import type { Page } from '../../state/page.ts';
import type { ApiResponses } from '../../state/responses.ts';

type Scorecard = ApiResponses['scorecard'];
type Probabilities = NonNullable<Scorecard['statistics']['probabilities']>;
type Distribution = NonNullable<Scorecard['statistics']['distribution']>;

/** Fewer independent outcomes make a diagram misleading. */
const MIN_INDEPENDENT_OUTCOMES = 5;

export function mountCalibration({ store }: Page) {
  mountWholeRecord({ store, body: getSectionBody('calibration'), draw: renderCalibration });
}

function renderCalibration(scorecard: Scorecard) {
  const { probabilities, distribution } = scorecard.statistics;
  if (probabilities === null) return renderNotYet('No outcome is known yet. Calibration and skill start with the first.');
  return [
    createSkillFigure(scorecard),
    renderMarketNote(scorecard),
    probabilities.effectiveN < MIN_INDEPENDENT_OUTCOMES
      ? h('p', { class: 'empty' }, formatTooFew('probabilities', probabilities))
      : h('div', { class: 'pair' }, [
          createReliabilityFigure(probabilities),
          distribution === null ? null : createQuantileFigure(distribution),
        ]),
    ...(distribution === null || distribution.effectiveN < MIN_INDEPENDENT_OUTCOMES
      ? []
      : [createCoverageFigure(distribution), renderWeekdays(distribution)]),
  ];
}

function formatTooFew(what: string, { n, effectiveN }: { n: number; effectiveN: number }) {
  return `Too few outcomes to judge the calibration of the ${what}: ${formatCount(n)} overlapping ${n === 1 ? 'window' : 'windows'}, equivalent to about ${formatDecimal(effectiveN, 1)} independent ones.`;
}

function createSkillFigure(scorecard: Scorecard) {
  const rows = buildSkillRows(scorecard);
  const significantRows = rows.filter(({ proves, low, high }) => proves && low !== null && high !== null && (low > 0 || high < 0));
  return createFigure({
    title: 'Skill against naive forecasts',
    summary:
      significantRows.length === 0
        ? 'None of these differs measurably from zero: no skill is shown.'
        : `${significantRows.map(({ label, value }) => `${label}: ${(value ?? 0) > 0 ? 'better' : 'worse'}`).join('; ')}; the rest do not differ measurably from zero.`,
    legend: [
      { label: 'skill, 95 % interval', mark: 'mark-estimate' },
      { label: 'no evidence', mark: 'mark-quiet-estimate' },
    ],
    draw: (width) =>
      renderForestPlot({
        width,
        rows,
        reference: 0,
        sides: ['worse', 'better'],
        tick: formatSignedShare,
        domain: computeSkillDomain(rows),
      }),
    note: 'Only a bar clear of the zero line shows a difference; otherwise luck alone could explain it.',
    columns: SKILL_COLUMNS,
    rows,
  });
}

/** The axis fits the rows that can prove skill; others may end in an arrow. */
function computeSkillDomain(rows: readonly SkillRow[]): [number, number] {
  const values = rows.flatMap(({ value, low, high, proves }) => (proves ? [value, low, high] : []).filter((one) => one !== null));
  const most = Math.max(0.05, ...values.map(Math.abs)) * 1.15;
  return [-most, most];
}

const SKILL_COLUMNS: readonly Column<SkillRow>[] = [
  { heading: 'Comparison', cell: ({ label }) => label },
  { heading: 'Unit', cell: ({ unit }) => unit },
  { heading: 'Value', cell: ({ estimate }) => formatPercent(estimate?.value, 2), numeric: true },
  { heading: '95 % from', cell: ({ estimate }) => formatPercent(estimate?.low, 2), numeric: true },
  { heading: 'to', cell: ({ estimate }) => formatPercent(estimate?.high, 2), numeric: true },
  { heading: 'n', cell: ({ n }) => formatCount(n), numeric: true },
  { heading: 'Result', cell: ({ remark }) => remark ?? '' },
];

/** The comparison over all markets, which has no interval. */
function renderMarketNote({
  predictionMarket: { settledMarkets, modelLogLoss, marketLogLoss, weightGivenToModel, quotesAreOurs, venue, throughDate },
}: Scorecard) {
  if (settledMarkets === 0) return h('p', { class: 'note' }, 'No market considered for wagers is settled yet.');
  const ours = quotesAreOurs ? ' These are our own quotes, too, and no evidence.' : '';
  return h('p', { class: 'note' }, [
    `The weekly comparison uses one strike a week. Over all ${formatCount(settledMarkets)} settled markets considered for wagers (${venue}, up to ${throughDate}; several share an outcome), the log loss is ${formatDecimal(modelLogLoss, 4)} for the model and ${formatDecimal(marketLogLoss, 4)} for the prices (lower is better). Wagers therefore weight the model with ${formatPercent(weightGivenToModel, 0)}.${ours}`,
  ]);
}

function createReliabilityFigure({ reliability, n }: Probabilities) {
  return createFigure({
    title: 'Probability of UP: forecast and observed',
    summary: formatReliabilitySummary(reliability, n),
    legend: LEGEND,
    draw: (width) =>
      renderCalibrationDiagram({
        width,
        points: reliability.map(({ meanProbability, observedShare, interval95, n: members }) => ({
          said: meanProbability,
          happened: observedShare,
          label: `n ${formatCount(members)}`,
          ...interval95,
        })),
        saidTitle: 'forecast probability',
        happenedTitle: 'share of days up',
      }),
    columns: [
      { heading: 'Bin', cell: ({ from, to }) => `${formatPercent(from, 0)} to ${formatPercent(to, 0)}` },
      { heading: 'Forecast, mean', cell: ({ meanProbability }) => formatPercent(meanProbability), numeric: true },
      { heading: 'Observed', cell: ({ observedShare }) => formatPercent(observedShare), numeric: true },
      { heading: '95 % interval', cell: ({ interval95 }) => formatPercentInterval(interval95), numeric: true },
      { heading: 'n', cell: ({ n: members }) => formatCount(members), numeric: true },
      { heading: 'Effective n', cell: ({ effectiveN }) => formatDecimal(effectiveN, 1), numeric: true },
    ],
    rows: reliability,
  });
}

const LEGEND = [
  { label: 'observed, 95 % interval', mark: 'mark-dot' },
  { label: 'perfect', mark: 'mark-diagonal' },
];

function formatReliabilitySummary(rows: Probabilities['reliability'], n: number) {
  if (rows.length === 1) {
    const [{ meanProbability, observedShare, interval95 }] = rows;
    return `All ${formatCount(n)} are in one bin: ${formatPercent(meanProbability)} forecast, ${formatPercent(observedShare)} observed, 95\u00a0% interval ${formatPercentInterval(interval95)}. Probabilities this close hardly distinguish one day from another.`;
  }
  const off = rows.filter(({ meanProbability, interval95 }) => meanProbability < interval95.low || meanProbability > interval95.high);
  return `${formatDiagonalSummary(rows.length, off.length, 'bins')} ${formatCount(n)} forecasts.`;
}

function formatDiagonalSummary(all: number, off: number, what: string) {
  return off === 0
    ? `The intervals of all ${all} ${what} reach the diagonal.`
    : `The intervals of ${off} of ${all} ${what} miss the diagonal.`;
}

function createQuantileFigure({ quantiles, n }: Distribution) {
  const off = quantiles.filter(({ level, interval95 }) => level < interval95.low || level > interval95.high);
  return createFigure({
    title: 'Quantiles: expected and observed share below',
    summary: `${formatDiagonalSummary(quantiles.length, off.length, 'quantiles')} ${formatCount(n)} outcomes.`,
    legend: LEGEND,
    draw: (width) =>
      renderCalibrationDiagram({
        width,
        points: quantiles.map(({ level, observed, interval95 }) => ({ said: level, happened: observed, label: '', ...interval95 })),
        saidTitle: 'quantile',
        happenedTitle: 'share of outcomes below',
      }),
    columns: [
      { heading: 'Quantile', cell: ({ level }) => formatPercent(level, 0) },
      { heading: 'Observed below', cell: ({ observed }) => formatPercent(observed), numeric: true },
      { heading: '95 % interval', cell: ({ interval95 }) => formatPercentInterval(interval95), numeric: true },
    ],
    rows: quantiles,
  });
}

function createCoverageFigure({ coverage, n, effectiveN }: Distribution) {
  const rows = coverage.map(({ nominal, observed, interval95 }) => ({
    label: `Middle ${formatPercent(nominal, 0)}`,
    value: observed,
    mark: nominal,
    nominal,
    ...interval95,
    figures: `${formatPercent(observed)} of outcomes`,
    remark: formatPercentInterval(interval95),
  }));
  const off = rows.filter(({ nominal, low, high }) => nominal < low || nominal > high);
  return createFigure({
    title: 'Bands: expected and observed coverage',
    summary: `${off.length === 0 ? `All ${rows.length} bands are consistent with their nominal coverage over ${formatCount(n)} outcomes` : `${off.length} of ${rows.length} bands miss their nominal coverage`}; effective sample size ${formatDecimal(effectiveN, 0)}.`,
    legend: [
      { label: 'observed, 95 % interval', mark: 'mark-estimate' },
      { label: 'nominal', mark: 'mark-own' },
    ],
    draw: (width) => renderForestPlot({ width, rows, reference: null, tick: formatShortPercent, domain: [0, 1] }),
    columns: [
      { heading: 'Band', cell: ({ label }) => label },
      { heading: 'Nominal', cell: ({ nominal }) => formatPercent(nominal, 0), numeric: true },
      { heading: 'Observed', cell: ({ value }) => formatPercent(value), numeric: true },
      { heading: '95 % interval', cell: (row) => formatPercentInterval(row), numeric: true },
    ],
    rows,
  });
}

/** One number for all days hides weekdays on which the band is too wide or too narrow. */
function renderWeekdays({ weekdays }: Distribution) {
  const held = weekdays.flatMap(({ weekday, coverage }) => {
    const band = coverage.find(({ nominal }) => nominal === 0.8);
    return band === undefined ? [] : [`${weekday} ${formatPercent(band.observed, 0)} (${formatPercentInterval(band.interval95)})`];
  });
  return h('p', { class: 'quiet' }, `Middle 80 % by the weekday on which the window opens: ${held.join(', ')}.`);
}
