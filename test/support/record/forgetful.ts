import type { Db } from 'mongodb';
import { RecordFigures } from '../../../src/record/figures/record-figures.ts';
import { type StatisticsDeps, StatisticsService } from '../../../src/record/statistics/statistics-service.ts';

/** Stores no figures, so that each read computes them. */
export const NO_FIGURES = { collection: () => ({ findOne: async () => null, replaceOne: async () => ({}) }) } as unknown as Db;

/** The same parts without what their statistics remember from one answer to the next: behind that a leak would not show. */
export function forgetful<Parts extends Omit<StatisticsDeps, 'figures'>>(parts: Parts): Parts {
  const { record, models } = parts;
  const create = () => new StatisticsService({ ...parts, figures: new RecordFigures({ db: NO_FIGURES, record, models }) });
  return Object.defineProperty({ ...parts }, 'statistics', { get: create });
}
