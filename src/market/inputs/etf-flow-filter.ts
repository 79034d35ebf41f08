import { allocateFloat64, allocateInt32, createGrowableColumn } from '../series/growable-column.ts';
import { countUpTo, type Observations } from '../series/observations.ts';

/**
 * Keeps the ETF flows of S&P 500 trading days, because providers report a flow of zero on US holidays. A flow is available once both it
 * and the S&P 500 close of its date are; it stays pending until the S&P 500 has a value dated on or after it.
 */
export function createEtfFlowFilter() {
  const days = createGrowableColumn(allocateInt32, 1024);
  const values = createGrowableColumn(allocateFloat64, 1024);
  const availableAt = createGrowableColumn(allocateFloat64, 1024);
  let next = 0;
  let latest = Number.NEGATIVE_INFINITY;

  function appendFlow(flows: Observations, index: number, tradingDayKnownAt: number): void {
    latest = Math.max(latest, flows.availableAt[index], tradingDayKnownAt);
    days.push(flows.days[index]);
    values.push(flows.values[index]);
    availableAt.push(latest);
  }

  return {
    /** All flows kept so far, those of earlier calls included. */
    update(flows: Observations, sp500: Observations): Observations {
      const lastTradingDay = sp500.days.at(-1) ?? Number.NEGATIVE_INFINITY;
      for (; next < flows.days.length && flows.days[next] <= lastTradingDay; next++) {
        const trading = countUpTo(sp500.days, flows.days[next]) - 1;
        if (sp500.days[trading] === flows.days[next]) appendFlow(flows, next, sp500.availableAt[trading]);
      }
      return { source: flows.source, days: days.view(), values: values.view(), availableAt: availableAt.view() };
    },
  };
}
