import { MACRO_SERIES, type MacroReading, macroContext } from '../macro.ts';
import { dateOf, rounded } from './numbers.ts';
import type { MarketReport } from './report.ts';

export const macroCorrelation: MarketReport = {
  path: '/api/macro-correlation',
  summary: 'Dollar index, S&P 500, gold and ISM PMI, and how their changes correlate with those of Bitcoin',
  dependsOn: MACRO_SERIES,
  async build({ feed, atMs }) {
    const { dxy, sp500, goldBtcRatio, ismPmi } = await macroContext(feed, atMs);
    return {
      dxy: { ...figures(dxy, 3), change5d: rounded(dxy.change5dPct, 2) },
      sp500: { ...figures(sp500, 2), change5d: rounded(sp500.change5dPct, 2) },
      goldBtcRatio: figures(goldBtcRatio, 6),
      ismPmi: figures(ismPmi, 1),
    };
  },
};

function figures({ value, correlation, pairs, windowDays, observedDay, stale, provisional }: MacroReading, decimals: number) {
  return {
    value: rounded(value, decimals),
    correlation: rounded(correlation, 3),
    pairs,
    windowDays,
    date: dateOf(observedDay),
    stale,
    provisional,
  };
}
