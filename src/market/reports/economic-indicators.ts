import type { SeriesReading } from '../reading.ts';
import type { SeriesId } from '../series.ts';
import { dateOf, difference, rounded } from './numbers.ts';
import type { MarketReport } from './report.ts';

/** The indicators with the decimals they are told with. */
const INDICATORS = { pmi: 1, us10y: 3, us2y: 3, fedFunds: 2, vix: 2, dxy: 3, sp500: 2, gold: 2 } as const satisfies Partial<
  Record<SeriesId, number>
>;

const IDS = Object.keys(INDICATORS) as (keyof typeof INDICATORS)[];

export const economicIndicators: MarketReport = {
  path: '/api/economic-indicators',
  summary: 'ISM PMI, US yields, fed funds, VIX, dollar index, S&P 500 and gold with their previous values',
  dependsOn: IDS,
  async build({ read }) {
    const entries = await Promise.all(IDS.map(async (id) => [id, indicator(await read(id), INDICATORS[id])] as const));
    return Object.fromEntries(entries);
  },
};

/** `change` is in the unit of the series. */
function indicator({ reading, known }: SeriesReading, decimals: number) {
  const previous = known.values.at(-2) ?? null;
  return {
    title: reading.title,
    unit: reading.unit,
    value: rounded(reading.value, decimals),
    previous: rounded(previous, decimals),
    change: rounded(difference(previous, reading.value), decimals),
    date: dateOf(reading.observedDay),
    previousDate: dateOf(known.days.at(-2) ?? null),
    stale: reading.stale,
    provisional: reading.provisional,
  };
}
