import { z } from 'zod';
import { COUNT, DATE } from '../../../platform/validation/fields.ts';
import { formatDayOrNull, roundOrNull } from '../../numbers.ts';
import { defineReport } from '../report.ts';
import { buildMacroContext, MACRO_SERIES, type MacroReading } from './macro-context.ts';

const buildFigureFields = (unit: string) =>
  z.object({
    value: z.number().nullable().describe(`Last value, ${unit}; null before the first`),
    correlation: z
      .number()
      .min(-1)
      .max(1)
      .nullable()
      .describe("Pearson correlation of its changes with bitcoin's log returns; null with too few pairs"),
    pairs: COUNT.describe('Number of pairs in the correlation'),
    windowDays: COUNT.describe('Length of the correlation window in days, up to the last value'),
    date: DATE.nullable().describe('Date of the value'),
    stale: z.boolean().describe('True when missing or too old'),
    provisional: z.boolean().describe('True before the value is final'),
  });

const CHANGE = z.number().nullable().describe('Change over the last five observations, in percent');

export const macroCorrelationReport = defineReport({
  path: '/api/macro-correlation',
  summary: 'Dollar index, S&P 500, gold and ISM PMI, with the correlation of their changes with Bitcoin',
  dependsOn: MACRO_SERIES,
  fields: z.object({
    dxy: buildFigureFields('index points').extend({ change5d: CHANGE }).describe('US dollar index'),
    sp500: buildFigureFields('index points').extend({ change5d: CHANGE }).describe('S&P 500'),
    goldBtcRatio: buildFigureFields('bitcoin per ounce').describe(
      'Ounce of gold in bitcoin; the correlation is that of the gold price in USD',
    ),
    ismPmi: buildFigureFields('index points').describe('ISM manufacturing PMI, monthly'),
  }),
  async build({ feed, atMs }) {
    const { dxy, sp500, goldBtcRatio, ismPmi } = await buildMacroContext(feed, atMs);
    return {
      dxy: { ...buildFigures(dxy, 3), change5d: roundOrNull(dxy.change5dPct, 2) },
      sp500: { ...buildFigures(sp500, 2), change5d: roundOrNull(sp500.change5dPct, 2) },
      goldBtcRatio: buildFigures(goldBtcRatio, 6),
      ismPmi: buildFigures(ismPmi, 1),
    };
  },
});

function buildFigures({ value, correlation, pairs, windowDays, observedDay, stale, provisional }: MacroReading, decimals: number) {
  return {
    value: roundOrNull(value, decimals),
    correlation: roundOrNull(correlation, 3),
    pairs,
    windowDays,
    date: formatDayOrNull(observedDay),
    stale,
    provisional,
  };
}
