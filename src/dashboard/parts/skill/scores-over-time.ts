import { parseDayNumber } from '../../charts/chart.ts';
import { formatShortPercent, formatSignedShare } from '../../charts/forest-plot.ts';
import { renderSeriesChart } from '../../charts/over-time/series-chart.ts';
import { createTimeFigure } from '../../charts/over-time/time-figure.ts';
import { getSectionBody, h } from '../../lib/dom.ts';
import { formatCount, formatPercent } from '../../lib/format.ts';
import { mountResource, renderNotYet } from '../../lib/section.ts';
import type { Page } from '../../state/page.ts';
import type { ApiResponses } from '../../state/responses.ts';

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

const SHOWN: readonly ShownMeasure[] = [
  { measure: 'hitAdvantage', title: 'Calls right, less always UP', reference: 0, tick: formatSignedShare, judge: judgeSign },
  {
    measure: 'brierSkill',
    title: 'Skill of P(up) against the base rate',
    reference: 0,
    tick: formatSignedShare,
    judge: judgeSign,
    isSecond: true,
  },
  {
    measure: 'crpsSkill',
    title: 'Skill of the distribution against climatology',
    reference: 0,
    tick: formatSignedShare,
    judge: judgeSign,
    isSecond: true,
  },
  {
    measure: 'coverage80',
    title: 'Outcomes within the 80 % range',
    reference: 0.8,
    tick: formatShortPercent,
    judge: (low, high) => (low > 0.8 ? 'the range is too wide' : high < 0.8 ? 'the range is too narrow' : 'consistent with 80 %'),
  },
];

/** Scores of the record by day, cumulative and rolling. */
export function mountScoresOverTime({ store }: Page) {
  mountResource({ store, name: 'series', body: getSectionBody('scores'), draw: renderScores });
}

function renderScores({ points, horizon, rollingDays, nextCursor }: Series) {
  if (points.length === 0) return renderNotYet('No outcome is known yet. Scores over time start with the first.');
  const oldestFirst = points.toReversed();
  const createFigures = (isSecond: boolean) =>
    SHOWN.filter((shown) => (shown.isSecond ?? false) === isSecond).map((shown) => createMeasureFigure(shown, oldestFirst, rollingDays));
  const days = horizon.slice(0, -1);
  const more = nextCursor === null ? '' : `The newest ${formatCount(points.length)} days are shown. `;
  return [
    h('div', { class: 'pair' }, createFigures(false)),
    h('details', { class: 'more-of' }, [
      h('summary', {}, 'Skill of probabilities and distributions'),
      h('div', { class: 'pair' }, createFigures(true)),
    ]),
    h('p', { class: 'quiet' }, [
      more,
      'All days: ',
      h('a', { href: `api/svc/scorecard/series.csv?horizon=${days}&limit=1000` }, 'CSV'),
      `. Shaded: 95 % interval by blocks of days; it begins with five blocks.`,
    ]),
  ];
}

function createMeasureFigure({ measure, title, reference, tick, judge }: ShownMeasure, points: readonly Point[], rollingDays: number) {
  const values = points.flatMap((point) => {
    const { value, low, high } = point.cumulative[measure];
    return value === null ? [] : [{ ...point, day: parseDayNumber(point.date), value, low, high }];
  });
  const last = values.at(-1);
  if (last === undefined) return null;
  const rolling = points.at(-1)!.rolling[measure].value;
  const verdict = last.low === null || last.high === null ? 'too few days for an interval' : judge(last.low, last.high);
  return createTimeFigure({
    title,
    points: () => values,
    summary: () => `${tick(last.value)} so far: ${verdict}. Last ${rollingDays} days: ${rolling === null ? '–' : tick(rolling)}.`,
    draw: ({ width, points: shown }) => renderSeriesChart({ width, points: shown, reference, tick }),
    read: ({ date, value, low, high, n }) =>
      `${date}: ${tick(value)}${low === null || high === null ? '' : ` (${tick(low)} to ${tick(high)})`}, ${formatCount(n)} outcomes.`,
    columns: COLUMNS.map(({ heading, read: readCell }) => ({
      heading,
      cell: (point: Point) => readCell(point, measure),
      numeric: heading !== 'Day',
    })),
  }).element;
}

const COLUMNS: readonly { heading: string; read(point: Point, measure: Measure): string }[] = [
  { heading: 'Day', read: ({ date }) => date },
  { heading: 'Outcomes', read: ({ n }) => formatCount(n) },
  { heading: 'So far', read: ({ cumulative }, measure) => formatPercent(cumulative[measure].value, 2) },
  { heading: '95 % from', read: ({ cumulative }, measure) => formatPercent(cumulative[measure].low, 2) },
  { heading: 'to', read: ({ cumulative }, measure) => formatPercent(cumulative[measure].high, 2) },
  { heading: 'Rolling', read: ({ rolling }, measure) => formatPercent(rolling[measure].value, 2) },
];
