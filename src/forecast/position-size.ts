import { round } from './math.ts';
import type { MoveForecast } from './move.ts';

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
