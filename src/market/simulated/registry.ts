import { formatDay } from '../../forecast/day.ts';
import type { SeriesId } from '../series/series.ts';
import { dxy, fedFunds, gold, pmi, policyRate, sp500, us2y, us10y, vix } from './macro-series.ts';
import {
  dvol,
  etfFlow,
  fearGreed,
  fundingRate,
  openInterest,
  perpBasis,
  realizedPrice,
  sthRealizedPrice,
  takerBuyFraction,
} from './market-series.ts';
import { FIRST_PRICE_DAY } from './price-path.ts';
import type { SimulatedSeries } from './simulated-series.ts';

const btcClose: SimulatedSeries = { from: formatDay(FIRST_PRICE_DAY), start: (path) => path.close };

/** Every series of the simulated feed: a further one is one entry here. */
export const SIMULATED_SERIES = {
  btcClose,
  fearGreed,
  realizedPrice,
  sthRealizedPrice,
  takerBuyFraction,
  fundingRate,
  openInterest,
  perpBasis,
  dvol,
  etfFlow,
  sp500,
  dxy,
  gold,
  vix,
  us2y,
  us10y,
  fedFunds,
  policyRate,
  pmi,
} as const satisfies Record<SeriesId, SimulatedSeries>;
