import { type StatisticsDeps, StatisticsService } from '../../../src/record/statistics/statistics-service.ts';

/** The same parts without what their statistics remember from one answer to the next: behind that a leak would not show. */
export function forgetful<Parts extends StatisticsDeps>(parts: Parts): Parts {
  return Object.defineProperty({ ...parts }, 'statistics', { get: () => new StatisticsService(parts) });
}
