import { z } from 'zod';
import { DATE } from '../../../platform/validation/fields.ts';
import { formatDayOrNull, roundOrNull } from '../../numbers.ts';
import { FEAR_GREED_LABELS, type FearGreedLabel, getFearGreedLabel } from '../../series/fear-greed-label.ts';
import { averageBetween, findValueAt } from '../../series/lookback.ts';
import { defineReport } from '../report.ts';

const LABEL = z.enum(FEAR_GREED_LABELS).nullable();
const VALUE = z.int().min(0).max(100).nullable();

const PAST = z.object({
  value: VALUE.describe('The index on that day, 0 to 100; null when unknown'),
  label: LABEL.describe('Its label'),
});

const FIELDS = z.object({
  value: VALUE.describe('The index, 0 (fear) to 100 (greed); null before the first value'),
  classification: LABEL.describe('Label of the value'),
  label: LABEL.describe('The same as `classification`'),
  date: DATE.nullable().describe('Date of the value'),
  yesterday: PAST.describe('One day before `date`'),
  weekAgo: PAST.describe('Seven days before `date`'),
  average7d: z.number().nullable().describe('Mean of the 7 days that end with `date`, 0 to 100'),
  average30d: z.number().nullable().describe('Mean of the 30 days that end with `date`, 0 to 100'),
  attribution: z.string().optional().describe('Attribution required by the publisher; live data only'),
});

export const fearGreedReport = defineReport({
  path: '/api/fear-greed',
  summary: 'The Crypto Fear & Greed index, 0 to 100, with label, past values and averages',
  dependsOn: ['fearGreed'],
  fields: FIELDS,
  async build({ read, feed }) {
    const { reading, known } = await read('fearGreed');
    const { observedDay: day } = reading;
    const value = roundOrNull(reading.value, 0);
    const label = toLabel(value);
    const average = (days: number) => (day === null ? null : roundOrNull(averageBetween(known, day - days + 1, day), 1));
    const before = (days: number) => {
      const past = day === null ? null : roundOrNull(findValueAt(known, day - days), 0);
      return { value: past, label: toLabel(past) };
    };
    return {
      value,
      classification: label,
      label,
      date: formatDayOrNull(day),
      yesterday: before(1),
      weekAgo: before(7),
      average7d: average(7),
      average30d: average(30),
      // The publisher's terms require attribution wherever the index is displayed.
      ...(feed.kind === 'live' ? { attribution: 'Crypto Fear & Greed Index by alternative.me' } : {}),
    };
  },
});

function toLabel(value: number | null): FearGreedLabel | null {
  return value === null ? null : getFearGreedLabel(value);
}
