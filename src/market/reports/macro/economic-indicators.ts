import { z } from 'zod';
import { DATE } from '../../../platform/validation/fields.ts';
import { formatDayOrNull, roundOrNull, subtractOrNull } from '../../numbers.ts';
import { SERIES, type SeriesId } from '../../series/series.ts';
import type { SeriesReading } from '../../series/series-reading.ts';
import { defineReport } from '../report.ts';

const INDICATORS = { pmi: 1, us10y: 3, us2y: 3, fedFunds: 2, vix: 2, dxy: 3, sp500: 2, gold: 2 } as const satisfies Partial<
  Record<SeriesId, number>
>;

type IndicatorId = keyof typeof INDICATORS;
const IDS = Object.keys(INDICATORS) as IndicatorId[];

const INDICATOR = z.object({
  title: z.string().describe('Name of the indicator'),
  unit: z.string().describe('Unit of `value`, `previous` and `change`'),
  value: z.number().nullable().describe('Last value in `unit`; null before the first'),
  previous: z.number().nullable().describe('Previous value in `unit`'),
  change: z.number().nullable().describe('Difference of both values in `unit`'),
  date: DATE.nullable().describe('Date of the value; for the PMI, its release date'),
  previousDate: DATE.nullable().describe('Date of the previous value'),
  stale: z.boolean().describe('True when missing or too old'),
  provisional: z.boolean().describe('True before the value is final'),
});

function mapIndicators<T>(make: (id: IndicatorId) => T): Record<IndicatorId, T> {
  return Object.fromEntries(IDS.map((id) => [id, make(id)])) as Record<IndicatorId, T>;
}

export const economicIndicatorsReport = defineReport({
  path: '/api/economic-indicators',
  summary: 'ISM PMI, US yields, fed funds, VIX, dollar index, S&P 500 and gold with their previous values',
  dependsOn: IDS,
  fields: z.object(mapIndicators((id) => INDICATOR.describe(SERIES[id].title))),
  async build({ read }) {
    const readings = new Map(await Promise.all(IDS.map(async (id) => [id, await read(id)] as const)));
    return mapIndicators((id) => buildIndicator(readings.get(id)!, INDICATORS[id]));
  },
});

function buildIndicator({ reading, known }: SeriesReading, decimals: number) {
  const previous = known.values.at(-2) ?? null;
  return {
    title: reading.title,
    unit: reading.unit,
    value: roundOrNull(reading.value, decimals),
    previous: roundOrNull(previous, decimals),
    change: roundOrNull(subtractOrNull(previous, reading.value), decimals),
    date: formatDayOrNull(reading.observedDay),
    previousDate: formatDayOrNull(known.days.at(-2) ?? null),
    stale: reading.stale,
    provisional: reading.provisional,
  };
}
