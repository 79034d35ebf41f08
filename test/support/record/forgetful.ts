import type { Db } from 'mongodb';
import { CrowdFiguresReader } from '../../../src/record/crowd/crowd-figures.ts';
import { FiguresStore } from '../../../src/record/figures/figures-store.ts';
import { RecordFigures } from '../../../src/record/figures/record-figures.ts';
import { type StatisticsDeps, StatisticsService } from '../../../src/record/statistics/statistics-service.ts';

/** Stores no figures, so that each read computes them. */
const NO_FIGURES = { collection: () => ({ findOne: async () => null, replaceOne: async () => ({}) }) } as unknown as Db;

export const createForgetfulStore = () => new FiguresStore(NO_FIGURES);

/** The same parts without what their statistics remember from one answer to the next: behind that a leak would not show. */
export function forgetful<Parts extends Omit<StatisticsDeps, 'figures'>>(parts: Parts): Parts {
  const { record, models, wagers, sameBook } = parts;
  const createCrowd = () => new CrowdFiguresReader({ store: createForgetfulStore(), record, wagers, sameBook });
  const createStatistics = () =>
    new StatisticsService({
      ...parts,
      crowd: createCrowd(),
      figures: new RecordFigures({ store: createForgetfulStore(), record, models }),
    });
  return Object.defineProperties({ ...parts }, { statistics: { get: createStatistics }, crowd: { get: createCrowd } });
}
