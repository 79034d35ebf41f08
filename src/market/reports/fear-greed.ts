import { fearGreedLabel } from '../fear-greed.ts';
import { meanBetween, valueAt } from './lookback.ts';
import { dateOf, rounded } from './numbers.ts';
import type { MarketReport } from './report.ts';

export const fearGreed: MarketReport = {
  path: '/api/fear-greed',
  summary: 'The Crypto Fear & Greed index, 0 to 100, with its label, its recent past and its averages',
  dependsOn: ['fearGreed'],
  async build({ read, feed }) {
    const { reading, known } = await read('fearGreed');
    const { value, observedDay: day } = reading;
    const label = labelOf(value);
    const mean = (days: number) => (day === null ? null : rounded(meanBetween(known, day - days + 1, day), 1));
    const before = (days: number) => {
      const past = day === null ? null : valueAt(known, day - days);
      return { value: past, label: labelOf(past) };
    };
    return {
      value,
      classification: label,
      label,
      date: dateOf(day),
      yesterday: before(1),
      weekAgo: before(7),
      average7d: mean(7),
      average30d: mean(30),
      // Its publisher asks to be named wherever the index is shown.
      ...(feed.kind === 'live' ? { attribution: 'Crypto Fear & Greed Index by alternative.me' } : {}),
    };
  },
};

function labelOf(value: number | null): string | null {
  return value === null ? null : fearGreedLabel(value);
}
