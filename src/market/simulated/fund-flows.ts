import { allocateFloat64, createGrowableColumn, type GrowableColumn } from '../series/growable-column.ts';
import type { Observations } from '../series/observations.ts';
import { createRandomness } from './random.ts';

/** Typical shares of the daily flow; the first fund receives the remainder. */
const SHARES = {
  IBIT: 0.48,
  FBTC: 0.2,
  BITB: 0.05,
  ARKB: 0.08,
  BTCO: 0.02,
  EZBC: 0.015,
  BRRR: 0.01,
  HODL: 0.025,
  BTCW: 0.01,
  GBTC: 0.06,
  BTC: 0.05,
} as const;

const [LEADER, ...OTHERS] = Object.keys(SHARES) as (keyof typeof SHARES)[];

/** Splits the simulated totals (USD millions) into flows of each fund, in steps of 0.1 that sum exactly to the totals. */
export function createFundFlows(totals: (atMs: number) => Observations, seed: number) {
  const random = createRandomness(seed, 'fundFlows');
  const funds = new Map<string, GrowableColumn<Float64Array>>(
    Object.keys(SHARES).map((ticker) => [ticker, createGrowableColumn(allocateFloat64)]),
  );

  function split(day: number, totalMusd: number): void {
    let tenthsLeft = Math.round(totalMusd * 10);
    OTHERS.forEach((ticker, index) => {
      const share = SHARES[ticker] * (1 + 0.5 * random.normal(day, 2 * index));
      const tenths = Math.round(10 * (share * totalMusd + 150 * SHARES[ticker] * random.normal(day, 2 * index + 1)));
      funds.get(ticker)!.push(tenths / 10);
      tenthsLeft -= tenths;
    });
    funds.get(LEADER)!.push(tenthsLeft / 10);
  }

  return (atMs: number): Record<string, Observations> => {
    const total = totals(atMs);
    for (let next = funds.get(LEADER)!.length; next < total.days.length; next++) split(total.days[next], total.values[next]);
    return Object.fromEntries(
      [...funds].map(([ticker, flows]) => [ticker, { ...total, values: flows.view().subarray(0, total.days.length) }]),
    );
  };
}
