import { bootstrapPaths, type IntervalEstimate } from '../bootstrap.ts';
import { formatDay } from '../day.ts';
import { computeFeatures } from '../features.ts';
import type { InputFrame } from '../inputs.ts';
import { mean, normalQuantile, variance } from '../math.ts';
import { BLOCK_DAYS, formatModelVersion, getBlockStart } from '../model.ts';
import { fitWidths } from '../models.ts';
import { MOVE_MODEL, MoveForecaster } from '../move-forecaster.ts';

/** What the sizes by the forecast are compared with: the same size each day, and the distance of a stop by a volatility that anyone computes. */
const REFERENCES = ['constant', 'ewma'] as const;
const SIZINGS = ['width90', ...REFERENCES] as const;
type Sizing = (typeof SIZINGS)[number];

/** Of the capital: no size of recorded history is above all of it, so that none needs credit. */
export const MEAN_SIZE = 0.25;
/** Of the value that is bought or sold. */
export const COSTS = [0, 0.001] as const;
/** Volatility keeps for months, and the realised one of a day reaches back 30 days. */
export const SIZING_BLOCK_DAYS = 90;

const HORIZON_DAYS = 1;
const DAYS_PER_YEAR = 365.25;
const VOLATILITY_DAYS = 30;

/** Figures of a holder; those of money as shares of the capital, those of a year annualised. */
export const SIZING_FIGURES = ['volatility', 'volatilityDeviation', 'drawdown', 'meanReturn', 'sharpe'] as const;
export type SizingFigure = (typeof SIZING_FIGURES)[number];
type Figures = Record<SizingFigure, number>;

export type SizingReport = NonNullable<ReturnType<typeof compareSizings>>;

/**
 * A holder with a horizon of one day, who has a share of the capital in bitcoin from each close to the next, on the days of the complete folds,
 * by each sizing with the same mean size. The size is a constant risk over the distance of a stop, which is a distance only: none is executed.
 * Null without a fold.
 */
export function compareSizings(frame: InputFrame) {
  const days = forecastStops(frame);
  if (days.length === 0) return null;
  const returns = days.map(({ row }) => frame.close[row + HORIZON_DAYS] / frame.close[row] - 1);
  const sizes: Record<Sizing, Float64Array> = {
    constant: scaleToMean(days.map(() => 1)),
    width90: scaleToMean(days.map(({ width90 }) => 1 / toStopDistance(width90 / 2))),
    ewma: scaleToMean(days.map(({ ewma }) => 1 / toStopDistance(ewma))),
  };
  return {
    days: days.length,
    firstDay: formatDay(frame.firstDay + days[0].row),
    lastDay: formatDay(frame.firstDay + days[days.length - 1].row),
    byCost: COSTS.map((cost) => compareAtCost(sizes, returns, cost)),
  };
}

/** A fall by this share of the price is one by `half` of the log price. */
function toStopDistance(half: number): number {
  return 1 - Math.exp(-half);
}

/** By day: the published width, and half the central 90 % of a normal return with RiskMetrics' volatility. */
function forecastStops(frame: InputFrame) {
  const features = computeFeatures(frame);
  const forecaster = new MoveForecaster();
  const lastRow = frame.close.length - 1 - HORIZON_DAYS;
  const days: { row: number; width90: number; ewma: number }[] = [];
  for (let block = 0; getBlockStart(block) - frame.firstDay + BLOCK_DAYS - 1 <= lastRow; block++) {
    const fit = fitWidths({ closes: frame.close, features }, block, HORIZON_DAYS);
    if (fit === null) continue;
    const modelVersion = formatModelVersion(block, MOVE_MODEL.name);
    for (let day = getBlockStart(block); day < getBlockStart(block + 1); day++) {
      const row = day - frame.firstDay;
      const move = forecaster.forecast({ frame, features }, day, { ...fit, modelVersion });
      if (move !== null) days.push({ row, width90: move.width90, ewma: normalQuantile(0.95) * Math.sqrt(features.v94[row]) });
    }
  }
  return days;
}

/** The level is chosen with all days known; the differences of a day are not. */
function scaleToMean(sizes: readonly number[]): Float64Array {
  const scale = MEAN_SIZE / mean(sizes);
  return Float64Array.from(sizes, (size) => scale * size);
}

function compareAtCost(sizes: Record<Sizing, Float64Array>, returns: readonly number[], cost: number) {
  const paths = SIZINGS.map((sizing) => simulate(sizes[sizing], returns, cost));
  const differences = bootstrapPaths(returns.length, (rows) => listDifferences(paths.map((path) => computeFigures(path, rows))), {
    blockDays: SIZING_BLOCK_DAYS,
  });
  const rows = Uint32Array.from(returns, (_, row) => row);
  return {
    cost,
    sizings: SIZINGS.map((sizing, index) => ({
      sizing,
      ...computeFigures(paths[index], rows),
      worstDay: Math.min(...paths[index].returns),
      largestSize: Math.max(...sizes[sizing]),
      tradedPerYear: (paths[index].traded / returns.length) * DAYS_PER_YEAR,
    })),
    /** Figures by width90 less those of the other sizing. */
    differences: REFERENCES.map((against, index) => ({ against, ...toFigures((at) => differences[index * SIZING_FIGURES.length + at]) })),
  };
}

function listDifferences([width90, ...references]: readonly Figures[]): number[] {
  return references.flatMap((reference) => SIZING_FIGURES.map((name) => width90[name] - reference[name]));
}

function toFigures(of: (index: number) => IntervalEstimate): Record<SizingFigure, IntervalEstimate> {
  return Object.fromEntries(SIZING_FIGURES.map((name, index) => [name, of(index)])) as Record<SizingFigure, IntervalEstimate>;
}

interface Path {
  /** Of the capital, by day, after costs. */
  returns: Float64Array;
  /** Realised by the last 30 of them; NaN before. */
  volatilities: Float64Array;
  /** Sum of what was bought and sold, in shares of the capital of its day. */
  traded: number;
}

/** Holds `sizes[day]` of the capital over the return of the day; what the price did to the share of the day before is traded back. */
export function simulate(sizes: ArrayLike<number>, returns: ArrayLike<number>, cost: number): Path {
  const path: Path = { returns: new Float64Array(sizes.length), volatilities: new Float64Array(sizes.length).fill(Number.NaN), traded: 0 };
  let held = 0;
  for (let day = 0; day < sizes.length; day++) {
    const traded = Math.abs(sizes[day] - held);
    path.traded += traded;
    path.returns[day] = sizes[day] * returns[day] - cost * traded;
    held = (sizes[day] * (1 + returns[day])) / (1 + path.returns[day]);
    if (day + 1 >= VOLATILITY_DAYS) {
      const last = path.returns.subarray(day + 1 - VOLATILITY_DAYS, day + 1);
      path.volatilities[day] = Math.sqrt(variance(last, 1) * DAYS_PER_YEAR);
    }
  }
  return path;
}

/** Of the days at `rows`, in their order. */
export function computeFigures({ returns, volatilities }: Pick<Path, 'returns' | 'volatilities'>, rows: Uint32Array): Figures {
  const daily = createMoments();
  const realised = createMoments();
  let [capital, peak, drawdown] = [1, 1, 0];
  for (const row of rows) {
    daily.add(returns[row]);
    if (!Number.isNaN(volatilities[row])) realised.add(volatilities[row]);
    capital *= 1 + returns[row];
    peak = Math.max(peak, capital);
    drawdown = Math.max(drawdown, 1 - capital / peak);
  }
  const [volatility, meanReturn] = [daily.deviation() * Math.sqrt(DAYS_PER_YEAR), daily.mean() * DAYS_PER_YEAR];
  return { volatility, volatilityDeviation: realised.deviation(), drawdown, meanReturn, sharpe: meanReturn / volatility };
}

/** Without an array for each of the thousands of resamples. */
function createMoments() {
  let [n, sum, squares] = [0, 0, 0];
  return {
    add(value: number): void {
      n++;
      sum += value;
      squares += value * value;
    },
    mean: () => sum / n,
    deviation: () => Math.sqrt(Math.max(0, squares - (sum * sum) / n) / (n - 1)),
  };
}
