import type { Filter } from 'mongodb';
import { formatDay } from '../../forecast/day.ts';
import { createCache } from '../../platform/cache.ts';
import type { MarketComparisonDeps } from '../crowd/market-comparison.ts';
import type { HorizonFigures } from '../figures/horizon-figures.ts';
import type { RecordFigures } from '../figures/record-figures.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import type { ModelStore } from '../model-store.ts';
import { isOwnVenue } from '../own-venue.ts';
import type { HorizonRow } from './breakdown.ts';

const MAX_CACHED_SELECTIONS = 64;

export interface StatisticsDeps extends MarketComparisonDeps {
  models: Pick<ModelStore, 'get'>;
  figures: RecordFigures;
}

const STRIKE_QUESTION_NOTE =
  'A different question from UP or DOWN: whether the price is above the strike nearest to the money at the weekly expiry, one strike per week, whatever the horizon of this record.';
const OWN_QUOTES_NOTE = 'The quotes are made by this service itself: skill against them proves nothing.';

/** Statistics of the record and of selections from it. */
export class StatisticsService {
  readonly figures: RecordFigures;
  readonly #deps: StatisticsDeps;
  readonly #selectionCache = createCache<HorizonFigures>('record-selections', MAX_CACHED_SELECTIONS);

  constructor(deps: StatisticsDeps) {
    this.#deps = deps;
    this.figures = deps.figures;
  }

  /** Figures of the forecasts of a filter, once per revision of the record. */
  async getSelection(filter: Filter<ForecastDoc>, horizonDays: number): Promise<HorizonFigures> {
    const { record } = this.#deps;
    const key = JSON.stringify([await record.revision.read(), horizonDays, filter]);
    return this.#selectionCache.get(key, async () => {
      const newestFirst = await record.listMatching({ ...filter, horizonDays });
      return this.figures.computeSelection(newestFirst.reverse(), horizonDays);
    });
  }

  async getHorizonRows(): Promise<HorizonRow[]> {
    return (await this.figures.getHorizons()).map(({ row }) => row);
  }

  async getMarketSkill() {
    const { record, crowd, venueName, sameBook, now } = this.#deps;
    const through = await record.getLastPublicDay(now());
    const { marketSkill: skill } = await crowd.get(through);
    const quotesAreOurs = sameBook.some(isOwnVenue);
    const note = quotesAreOurs ? `${STRIKE_QUESTION_NOTE} ${OWN_QUOTES_NOTE}` : STRIKE_QUESTION_NOTE;
    return { venue: venueName, quotesAreOurs, throughDate: formatDay(through), skill, note };
  }

  async getDetails(horizonDays: number) {
    const [{ statistics, byRegime, byModelVersion }, byHorizon, marketSkill] = await Promise.all([
      this.figures.getHorizon(horizonDays),
      this.getHorizonRows(),
      this.getMarketSkill(),
    ]);
    return { statistics, byHorizon, byRegime, byModelVersion, marketSkill };
  }
}
