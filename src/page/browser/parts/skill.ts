import { el, formatCount, formatDecimal, formatPercent, formatPercentInterval } from '../../markup.ts';
import type { Column } from '../../table.ts';
import { renderForestPlot } from '../charts/calibration.ts';
import {
  buildLinePath,
  createChartSvg,
  createScale,
  measureTextWidth,
  parseDayNumber,
  renderFigure,
  renderHorizontalGrid,
  renderVerticalGrid,
} from '../charts/figure.ts';
import { renderSeriesChart } from '../charts/over-time.ts';
import { renderTimeFigure } from '../charts/time-figure.ts';
import { buildSkillRows, type SkillRow } from '../record.ts';
import type { ApiResponses } from '../responses.ts';
import { renderNotYet } from '../view.ts';

type Scorecard = ApiResponses['scorecard'];
type Probabilities = NonNullable<Scorecard['statistics']['probabilities']>;
type Distribution = NonNullable<Scorecard['statistics']['distribution']>;

/** Fewer independent outcomes make a diagram misleading. */
const MIN_INDEPENDENT_OUTCOMES = 5;

export function renderCalibration(scorecard: Scorecard) {
  const { probabilities, distribution } = scorecard.statistics;
  if (probabilities === null) return renderNotYet('No outcome is known yet. Calibration and skill start with the first.');
  return [
    createSkillFigure(scorecard),
    renderMarketNote(scorecard),
    probabilities.effectiveN < MIN_INDEPENDENT_OUTCOMES
      ? el('p', { class: 'empty' }, formatTooFew(probabilities))
      : el(
          'div',
          { class: 'pair' },
          createReliabilityFigure({ ...probabilities, ...RELIABILITY_OF_UP }),
          distribution && createQuantileFigure(distribution),
        ),
    ...(distribution === null || distribution.effectiveN < MIN_INDEPENDENT_OUTCOMES
      ? []
      : [createCoverageFigure(distribution), renderWeekdays(distribution)]),
  ];
}

function formatTooFew({ n, effectiveN }: Probabilities) {
  return `Too few outcomes to judge the calibration of the probabilities: ${formatCount(n)} overlapping ${n === 1 ? 'window' : 'windows'}, equivalent to about ${formatDecimal(effectiveN, 1)} independent ones.`;
}

function createSkillFigure(scorecard: Scorecard) {
  const rows = buildSkillRows(scorecard);
  const significantRows = rows.filter(({ proves, low, high }) => proves && low !== null && high !== null && (low > 0 || high < 0));
  const differences = significantRows.map(({ label, value }) => `${label}: ${(value ?? 0) > 0 ? 'better' : 'worse'}`);
  const domain = computeSkillDomain(rows);
  return renderFigure({
    title: 'Skill against naive forecasts',
    summary:
      differences.length === 0
        ? 'None of these differs measurably from zero: no skill is shown.'
        : `${differences.join('; ')}; the rest do not differ measurably from zero.`,
    legend: [
      { label: 'skill, 95 % interval', mark: 'mark-estimate' },
      { label: 'no evidence', mark: 'mark-quiet-estimate' },
    ],
    draw: (width) => renderForestPlot({ width, rows, reference: 0, sides: ['worse', 'better'], tick: formatSignedShare, domain }),
    note: 'Only a bar clear of the zero line shows a difference; otherwise luck alone could explain it.',
    columns: SKILL_COLUMNS,
    rows,
  });
}

export function formatSignedShare(value: number) {
  return `${value === 0 ? '' : value < 0 ? '−' : '+'}${formatShortPercent(Math.abs(value))}`;
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
  if (settledMarkets === 0) return el('p', { class: 'note' }, 'No market considered for wagers is settled yet.');
  const ours = quotesAreOurs ? ' These are our own quotes, too, and no evidence.' : '';
  return el(
    'p',
    { class: 'note' },
    `The weekly comparison uses one strike a week. Over all ${formatCount(settledMarkets)} settled markets considered for wagers (${venue}, up to ${throughDate}; several share an outcome), the log loss is ${formatDecimal(modelLogLoss, 4)} for the model and ${formatDecimal(marketLogLoss, 4)} for the prices (lower is better). Wagers therefore weight the model with ${formatPercent(weightGivenToModel, 0)}.${ours}`,
  );
}

const RELIABILITY_OF_UP = {
  title: 'Probability of UP: forecast and observed',
  saidTitle: 'forecast probability',
  happenedTitle: 'share of days up',
};

type ReliabilityFigure = Pick<Probabilities, 'reliability' | 'n'> & Record<'title' | 'saidTitle' | 'happenedTitle', string>;

export function createReliabilityFigure({ reliability, n, title, ...titles }: ReliabilityFigure) {
  const points = reliability.map(({ meanProbability, observedShare, interval95, n: members }) => ({
    said: meanProbability,
    happened: observedShare,
    label: `n ${formatCount(members)}`,
    ...interval95,
  }));
  return renderFigure({
    title,
    summary: formatReliabilitySummary(reliability, n),
    legend: LEGEND,
    draw: (width) => renderCalibrationDiagram({ width, points, ...titles }),
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

/** Predicted and observed frequency, 0 to 1, with the interval of the observed one. `label` is drawn where there is room. */
interface CalibrationPoint {
  said: number;
  happened: number;
  low: number;
  high: number;
  label: string;
}

const MAX_WIDTH = 400;
const MARGIN = { top: 24, right: 30, bottom: 40, left: 46 };

/** Calibration diagram: predicted frequency on x, observed on y, perfect calibration on the diagonal. */
function renderCalibrationDiagram(options: {
  width: number;
  points: readonly CalibrationPoint[];
  saidTitle: string;
  happenedTitle: string;
}) {
  const { points, saidTitle, happenedTitle } = options;
  const { top, left } = MARGIN;
  const width = Math.min(options.width, MAX_WIDTH);
  const right = width - MARGIN.right;
  const bottom = top + right - left;
  const x = createScale([0, 1], [left, right], 4);
  const y = createScale([0, 1], [bottom, top], 4);
  const ticks = x.ticks.map((value) => ({ at: x(value), label: formatPercent(value, 0) }));
  // Labels that would overlap are left out; the table has them all.
  const labels = points.map(({ said, happened, label }, index) => {
    const at = x(said) + 10;
    const next = index + 1 < points.length ? x(points[index + 1].said) - 6 : width;
    return at + measureTextWidth(label) > next ? null : el('text', { class: 'halo', x: at, y: y(happened), dy: '0.35em' }, label);
  });
  const line = points.map(({ said, happened }) => [x(said), y(happened)] as const);
  return createChartSvg(
    { width, height: bottom + MARGIN.bottom },
    renderHorizontalGrid({ y, left, right, label: (value) => formatPercent(value, 0) }),
    renderVerticalGrid({ ticks, strips: [{ from: top, to: bottom }], foot: bottom + 16, width }),
    el('text', { class: 'axis-title', x: 0, y: 12 }, happenedTitle),
    el('text', { class: 'axis-title', x: right, y: bottom + 34, 'text-anchor': 'end' }, saidTitle),
    el('path', { class: 'diagonal', d: buildLinePath([0, 1].map((share) => [x(share), y(share)])) }),
    points.length < 2 ? null : el('path', { class: 'line thin', d: buildLinePath(line) }),
    points.map(({ said, happened, low, high }) => {
      const at = x(said);
      return el('g', { class: 'estimate' }, [
        el('line', { class: 'interval', x1: at, x2: at, y1: y(low), y2: y(high) }),
        [low, high].map((end) => el('line', { class: 'interval', x1: at - 4, x2: at + 4, y1: y(end), y2: y(end) })),
        el('circle', { class: 'dot', cx: at, cy: y(happened), r: 5 }),
      ]);
    }),
    labels,
  );
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
  const points = quantiles.map(({ level, observed, interval95 }) => ({ said: level, happened: observed, label: '', ...interval95 }));
  const titles = { saidTitle: 'quantile', happenedTitle: 'share of outcomes below' };
  return renderFigure({
    title: 'Quantiles: expected and observed share below',
    summary: `${formatDiagonalSummary(quantiles.length, off.length, 'quantiles')} ${formatCount(n)} outcomes.`,
    legend: LEGEND,
    draw: (width) => renderCalibrationDiagram({ width, points, ...titles }),
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
  return renderFigure({
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

/** Percent without trailing zeros. */
function formatShortPercent(value: number) {
  return `${Number((100 * value).toFixed(1))} %`;
}

/** One number for all days hides weekdays on which the band is too wide or too narrow. */
function renderWeekdays({ weekdays }: Distribution) {
  const held = weekdays.flatMap(({ weekday, coverage }) => {
    const band = coverage.find(({ nominal }) => nominal === 0.8);
    return band === undefined ? [] : [`${weekday} ${formatPercent(band.observed, 0)} (${formatPercentInterval(band.interval95)})`];
  });
  return el('p', { class: 'quiet' }, `Middle 80 % by the weekday on which the window opens: ${held.join(', ')}.`);
}

type Series = ApiResponses['series'];
type Point = Series['points'][number];
type Measure = keyof Point['cumulative'];

interface ShownMeasure {
  measure: Measure;
  title: string;
  reference: number;
  tick: (value: number) => string;
  /** What the last value and its interval say. */
  judge(low: number, high: number): string;
  /** In the disclosure below. */
  isSecond?: true;
}

const judgeSign = (low: number, high: number) =>
  low > 0 ? 'better than the reference' : high < 0 ? 'worse than the reference' : 'no measurable difference';

const OF_ZERO = { reference: 0, tick: formatSignedShare, judge: judgeSign };

const SHOWN: readonly ShownMeasure[] = [
  { measure: 'hitAdvantage', title: 'Calls right, less always UP', ...OF_ZERO },
  { measure: 'brierSkill', title: 'Skill of P(up) against the base rate', ...OF_ZERO, isSecond: true },
  { measure: 'crpsSkill', title: 'Skill of the distribution against climatology', ...OF_ZERO, isSecond: true },
  {
    measure: 'coverage80',
    title: 'Outcomes within the 80 % band',
    reference: 0.8,
    tick: formatShortPercent,
    judge: (low, high) => (low > 0.8 ? 'the band is too wide' : high < 0.8 ? 'the band is too narrow' : 'consistent with 80 %'),
  },
];

interface ShownSeries extends Pick<Series, 'rollingDays'> {
  /** Oldest first. */
  points: readonly Point[];
  rest: { days: number; load: () => void } | null;
}

/** Scores of the record by day, cumulative and rolling. */
export function renderScores({ points, horizon, rollingDays, nextCursor }: Series, load: () => void) {
  if (points.length === 0) return renderNotYet('No outcome is known yet. Scores over time start with the first.');
  const oldestFirst = points.toReversed();
  const rest = nextCursor === null ? null : { days: points[0].n, load };
  const createFigures = (isSecond: boolean) =>
    SHOWN.filter((shown) => (shown.isSecond ?? false) === isSecond).map((shown) =>
      createMeasureFigure(shown, { points: oldestFirst, rollingDays, rest }),
    );
  const days = horizon.slice(0, -1);
  return [
    el('div', { class: 'pair' }, createFigures(false)),
    el('details', { class: 'more-of' }, [
      el('summary', {}, 'Skill of probabilities and distributions'),
      el('div', { class: 'pair' }, createFigures(true)),
    ]),
    el('p', { class: 'quiet' }, [
      'All days: ',
      el('a', { href: `api/svc/scorecard/series.csv?horizon=${days}&limit=1000` }, 'CSV'),
      `. Shaded: 95 % interval by blocks of days; it begins with five blocks.`,
    ]),
  ];
}

function createMeasureFigure({ measure, title, reference, tick, judge }: ShownMeasure, shownSeries: ShownSeries) {
  const { points, rollingDays, rest } = shownSeries;
  const values = points.flatMap((point) => {
    const { value, low, high } = point.cumulative[measure];
    return value === null ? [] : [{ ...point, day: parseDayNumber(point.date), value, low, high }];
  });
  const last = values.at(-1);
  if (last === undefined) return null;
  if (measure === 'hitAdvantage' && values.every(({ value }) => value === 0))
    return el('p', {}, `All ${formatCount(last.n)} calls so far were as right as always UP: they show no skill of the direction.`);
  const rolling = points.at(-1)!.rolling[measure].value;
  const verdict = last.low === null || last.high === null ? 'too few days for an interval' : judge(last.low, last.high);
  return renderTimeFigure({
    title,
    points: values,
    rest,
    summary: () => `${tick(last.value)} so far: ${verdict}. Last ${rollingDays} days: ${rolling === null ? '–' : tick(rolling)}.`,
    draw: ({ width, points: shown }) => renderSeriesChart({ width, points: shown, reference, tick }),
    read: ({ date, value, low, high, n }) =>
      `${date}: ${tick(value)}${low === null || high === null ? '' : ` (${tick(low)} to ${tick(high)})`}, ${formatCount(n)} outcomes.`,
    columns: COLUMNS.map(({ heading, read: readCell }) => ({
      heading,
      cell: (point: Point) => readCell(point, measure),
      numeric: heading !== 'Day',
    })),
  });
}

const COLUMNS: readonly { heading: string; read(point: Point, measure: Measure): string }[] = [
  { heading: 'Day', read: ({ date }) => date },
  { heading: 'Outcomes', read: ({ n }) => formatCount(n) },
  { heading: 'So far', read: ({ cumulative }, measure) => formatPercent(cumulative[measure].value, 2) },
  { heading: '95 % from', read: ({ cumulative }, measure) => formatPercent(cumulative[measure].low, 2) },
  { heading: 'to', read: ({ cumulative }, measure) => formatPercent(cumulative[measure].high, 2) },
  { heading: 'Rolling', read: ({ rolling }, measure) => formatPercent(rolling[measure].value, 2) },
];
