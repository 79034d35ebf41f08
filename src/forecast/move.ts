import { probabilityAtMost, type QuantileGrid } from './distribution.ts';
import { formatPercent, round } from './math.ts';

/** How wide a forecast is among its own last two years: the narrowest third, the middle one, the widest one. */
export const MOVE_SIZES = ['CALM', 'USUAL', 'WILD'] as const;
export type MoveSize = (typeof MOVE_SIZES)[number];

/**
 * The size of the move of one day and horizon. It is of the distribution less its median, so that P(up), which only shifts the quantiles,
 * is in none of its members, and all of them are public at once.
 */
export interface MoveForecast {
  /** Fit whose distribution it is of. */
  modelVersion: string;
  moveSize: MoveSize;
  /** P(|log return - its median| > `bigMove`), 6 decimals. */
  pBig: number;
  /** Log return beyond which a move is big, either way. */
  bigMove: number;
  /** q90 less q10 of the log return; 8 decimals like its limits, from which the size follows. */
  width80: number;
  /** q95 less q05: half of it is the move that one end in ten is beyond, either way. */
  width90: number;
  /** CALM at or below it: the quantile 1/3 (type 7) of the widths of the last 730 days. */
  calmUpTo: number;
  /** WILD at or above it: the quantile 2/3. */
  wildFrom: number;
}

/** A fall by this share is big, and a rise of the same log size. */
export function getBigMoveShare(horizonDays: number): number {
  return horizonDays === 1 ? 0.03 : 0.05;
}

/** The log return of that share, above 0. */
export function getBigMove(horizonDays: number): number {
  return -Math.log(1 - getBigMoveShare(horizonDays));
}

/** E.g. `USUAL; P(move beyond 5 %) 47 %`; null without a width. @param horizon such as `7d` */
export function formatMove({
  horizon,
  moveSize,
  pBig,
}: {
  horizon: string;
  moveSize: MoveSize | null;
  pBig: number | null;
}): string | null {
  if (moveSize === null || pBig === null) return null;
  return `${moveSize}; P(move beyond ${100 * getBigMoveShare(Number.parseInt(horizon, 10))} %) ${formatPercent(pBig, 0)}`;
}

const MEDIAN = 99;
const [Q05, Q10, Q90, Q95] = [9, 19, 179, 189];

/** P(|log return - median| > `bigMove`) under 199 quantiles; exact to 1e-5 for committed ones, which are rounded to millionths. */
export function computeBigMoveProbability(grid: QuantileGrid, bigMove: number): number {
  return computeTailProbability(
    Float64Array.from(grid, (value) => value - grid[MEDIAN]),
    bigMove,
  );
}

/** P(|log return| > `bigMove`) under 199 quantiles. */
export function computeTailProbability(grid: QuantileGrid, bigMove: number): number {
  return probabilityAtMost(grid, -bigMove) + 1 - probabilityAtMost(grid, bigMove);
}

/** q90 less q10. */
export function computeWidth80(grid: QuantileGrid): number {
  return grid[Q90] - grid[Q10];
}

/** q95 less q05. */
export function computeWidth90(grid: QuantileGrid): number {
  return grid[Q95] - grid[Q05];
}

export function classifyMoveSize({ width80, calmUpTo, wildFrom }: Pick<MoveForecast, 'width80' | 'calmUpTo' | 'wildFrom'>): MoveSize {
  if (width80 <= calmUpTo) return 'CALM';
  return width80 >= wildFrom ? 'WILD' : 'USUAL';
}

/** What an account puts at risk on one trade. */
export interface PositionRisk {
  /** Share of the account that is lost where the stop is reached: above 0, at most 100. */
  riskPercent: number;
  /** Above 0. */
  accountUsd: number;
}

/** The most that the two numbers of a risk may be; both are above 0. */
export const MAX_RISK_PERCENT = 100;
export const MAX_ACCOUNT_USD = 1_000_000_000_000;

export const SIZING_FORMULA =
  'h = width90 / 2: one end in ten is beyond it, by the model. stopPercent = 100 (1 - exp(-h)) long, 100 (exp(h) - 1) short; ' +
  'positionUsd = accountUsd * riskPercent / stopPercent; positionBtc = positionUsd / btcPrice; leverage = positionUsd / accountUsd. ' +
  'Without fees, funding, gaps and slippage. No advice to trade.';

/**
 * Stop distance and position size of a trade that loses the risk at its stop. Of the forecast only the width counts, which P(up) does not
 * change, so that all of it is public at once.
 *
 * @param forecast its `width90` in log return, its `btcPrice` in USD
 */
export function computePositionSize(
  { riskPercent, accountUsd }: PositionRisk,
  { width90, btcPrice }: Pick<MoveForecast, 'width90'> & { btcPrice: number },
) {
  const half = width90 / 2;
  const riskUsd = (accountUsd * riskPercent) / 100;
  const [long, short] = [-Math.expm1(-half), Math.expm1(half)].map((stop) => {
    const positionUsd = riskUsd / stop;
    return {
      stopPercent: round(100 * stop, 4),
      positionUsd: round(positionUsd, 2),
      positionBtc: round(positionUsd / btcPrice, 8),
      leverage: round(positionUsd / accountUsd, 4),
    };
  });
  return {
    riskPercent,
    accountUsd,
    riskUsd: round(riskUsd, 2),
    stopPercentLong: long.stopPercent,
    stopPercentShort: short.stopPercent,
    positionUsdLong: long.positionUsd,
    positionUsdShort: short.positionUsd,
    positionBtcLong: long.positionBtc,
    positionBtcShort: short.positionBtc,
    leverageLong: long.leverage,
    leverageShort: short.leverage,
    // Nothing is capped: a size that needs borrowing is named.
    exceedsAccount: Math.max(long.positionUsd, short.positionUsd) > accountUsd,
    formula: SIZING_FORMULA,
  };
}

export type PositionSize = ReturnType<typeof computePositionSize>;
