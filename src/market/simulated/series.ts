import { formatDay } from '../../forecast/day.ts';
import type { SeriesId } from '../series.ts';
import { dxy, fedFunds, gold, pmi, sp500, us10y, vix } from './macro-series.ts';
import { dvol, etfFlow, fearGreed, fundingRate, openInterest, realizedPrice, takerBuyFraction } from './market-series.ts';
import { FIRST_PRICE_DAY } from './price-path.ts';
import type { SimulatedSeries } from './simulated-series.ts';

const btcClose: SimulatedSeries = { from: formatDay(FIRST_PRICE_DAY), start: (path) => path.close };

/** Every series of the simulated feed: a further one is one entry here. */
export const SIMULATED_SERIES = {
  btcClose,
  fearGreed,
  realizedPrice,
  takerBuyFraction,
  fundingRate,
  openInterest,
  dvol,
  etfFlow,
  sp500,
  dxy,
  gold,
  vix,
  us10y,
  fedFunds,
  pmi,
} as const satisfies Record<SeriesId, SimulatedSeries>;
