import { formatDay } from '../../forecast/day.ts';
import type { SeriesId } from '../series/series.ts';
import { MACRO_SERIES } from './macro-series.ts';
import { MARKET_SERIES } from './market-series.ts';
import { FIRST_PRICE_DAY } from './price-path.ts';
import type { SimulatedSeries } from './simulated-series.ts';

/** All series of the simulated feed. A new one is one entry of `MARKET_SERIES` or `MACRO_SERIES`. */
export const SIMULATED_SERIES = {
  btcClose: { from: formatDay(FIRST_PRICE_DAY), start: (path) => path.close },
  ...MARKET_SERIES,
  ...MACRO_SERIES,
} as const satisfies Record<SeriesId, SimulatedSeries>;
