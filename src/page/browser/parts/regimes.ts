import { el, formatRegime } from '../../markup.ts';
import {
  createChartSvg,
  createScale,
  formatDayNumber,
  measureTextWidth,
  parseDayNumber,
  placeDayTicks,
  renderVerticalGrid,
} from '../charts/figure.ts';
import { type Plot, renderTimeFigure } from '../charts/time-figure.ts';
import type { ApiResponses, ScorecardRow } from '../responses.ts';
import { renderNotYet } from '../view.ts';

export function renderRegimes({ predictions }: ApiResponses['scorecard']) {
  const runs = toRegimeRuns(predictions);
  const now = runs.at(-1);
  if (now === undefined) return renderNotYet('No regime is known yet. It comes with the first forecast.');
  return [
    el('p', { class: 'lead' }, [
      el('strong', {}, `${formatRegime(now.regime)} since ${formatDayNumber(now.first)}`),
      `, ${formatRisk(now)} risk.`,
    ]),
    renderTimeFigure({
      title: 'Market regime by day of forecast',
      // A run is shown while its last day is.
      points: runs.map((run) => ({ ...run, day: run.last })),
      span: [runs[0].first, now.last],
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
    }),
  ];
}

/** A lane of the timeline. */
interface Lane {
  regime: RegimeRun['regime'];
  riskLevel: NonNullable<RegimeRun['riskLevel']>;
}

/** Consecutive days of one regime. `first`, `last`: days since 1970-01-01. */
interface RegimeRun {
  regime: NonNullable<ScorecardRow['regime']>;
  riskLevel: ScorecardRow['riskLevel'];
  first: number;
  last: number;
  /** Number of forecasts. */
  days: number;
}

function getRiskClass(riskLevel: Lane['riskLevel']) {
  return `risk-${riskLevel.toLowerCase()}`;
}

const LANE_HEIGHT = 26;
const BAR_HEIGHT = 16;
const TOP = 4;
const WIDE_FROM_PX = 560;

/** A lane per regime, with a bar for each period and lines at the changes. @param options `from`: earlier days are cut off */
export function renderRegimeTimeline(options: {
  width: number;
  /** At least one, ascending. */
  runs: readonly RegimeRun[];
  from: number;
}): Plot {
  const { width, runs, from } = options;
  const wide = width >= WIDE_FROM_PX;
  const left = Math.max(...LANES.map((lane) => measureTextWidth(formatLaneName(lane, wide)))) + 12;
  const right = width - 8;
  const bottom = TOP + LANES.length * LANE_HEIGHT;
  const [first, last] = [Math.max(from, runs[0].first), runs[runs.length - 1].last];
  const x = createScale([first, last + 1], [left, right]);
  const starts = runs.map((run) => x(Math.max(first, run.first)));
  const svg = createChartSvg(
    { width, height: bottom + 26 },
    LANES.flatMap((lane, index) => renderLane({ lane, wide, y: TOP + index * LANE_HEIGHT, right })),
    renderVerticalGrid({
      ticks: placeDayTicks(x, [left, right], [first, last]),
      strips: [{ from: TOP, to: bottom }],
      foot: bottom + 16,
      width,
    }),
    runs.slice(1).map((run, index) => {
      const at = starts[index + 1];
      return el('line', { class: 'change', x1: at, x2: at, y1: computeLaneMiddle(runs[index]), y2: computeLaneMiddle(run) });
    }),
    runs.map((run, index) => {
      const className = `run ${getRiskClass(LANES[findLaneIndex(run)].riskLevel)}`;
      return renderRun({ run, start: starts[index], end: x(run.last + 1), className });
    }),
  );
  return {
    svg,
    xs: starts,
    isStepped: true,
    mark: (index) => renderRun({ run: runs[index], start: starts[index], end: x(runs[index].last + 1), className: 'ring' }),
  };
}

/** A bar of at least two pixels. @param options pixels */
function renderRun({ run, start, end, className }: { run: RegimeRun; start: number; end: number; className: string }) {
  const width = Math.max(2, end - start);
  return el('rect', {
    class: className,
    x: Math.min(start, end - width).toFixed(1),
    y: computeLaneMiddle(run) - BAR_HEIGHT / 2,
    width: width.toFixed(1),
    height: BAR_HEIGHT,
    rx: 2,
  });
}

function findLaneIndex({ regime }: RegimeRun) {
  return LANES.findIndex((lane) => lane.regime === regime);
}

function computeLaneMiddle(run: RegimeRun) {
  return TOP + findLaneIndex(run) * LANE_HEIGHT + LANE_HEIGHT / 2;
}

function formatLaneName({ regime, riskLevel }: Lane, wide: boolean) {
  return wide ? `${formatRegime(regime)}, ${riskLevel.toLowerCase()} risk` : formatRegime(regime);
}

function renderLane({ lane, wide, y, right }: { lane: Lane; wide: boolean; y: number; right: number }) {
  return [
    el('line', { class: 'lane', x1: 0, x2: right, y1: y + LANE_HEIGHT, y2: y + LANE_HEIGHT }),
    el('text', { x: 0, y: y + LANE_HEIGHT / 2, dy: '0.35em', 'aria-hidden': 'true' }, formatLaneName(lane, wide)),
  ];
}

/**
 * Days without a forecast do not end a run.
 * @param rows of one horizon
 * @returns ascending
 */
export function toRegimeRuns(rows: readonly ScorecardRow[]): RegimeRun[] {
  const runs: RegimeRun[] = [];
  const known = rows.flatMap((row) =>
    row.regime === null ? [] : [{ regime: row.regime, riskLevel: row.riskLevel, day: parseDayNumber(row.date) }],
  );
  for (const { regime, riskLevel, day } of known.sort((a, b) => a.day - b.day)) {
    const last = runs.at(-1);
    if (last?.regime === regime) {
      last.last = day;
      last.days += 1;
    } else runs.push({ regime, riskLevel, first: day, last: day, days: 1 });
  }
  return runs;
}

/** Riskiest first. Interface, section 2.4. */
export const LANES: readonly Lane[] = [
  { regime: 'CRISIS', riskLevel: 'Extreme' },
  { regime: 'BEAR_TREND', riskLevel: 'High' },
  { regime: 'EUPHORIA', riskLevel: 'Elevated' },
  { regime: 'BEAR_RECOVERY', riskLevel: 'Elevated' },
  { regime: 'CHOP', riskLevel: 'Moderate' },
  { regime: 'DEFAULT', riskLevel: 'Moderate' },
  { regime: 'BULL_TREND', riskLevel: 'Low' },
];

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
