import type { Filter } from 'mongodb';
import { type Day, formatDay } from '../../forecast/day.ts';
import { computeMeanInterval } from '../../forecast/math/mean-interval.ts';
import { createCache } from '../../platform/cache.ts';
import { type CrowdPin, readPins, roundScore } from '../crowd/crowd-pins.ts';
import type { MarketComparisonDeps } from '../crowd/market-comparison.ts';
import { compareWeekly } from '../crowd/weekly-comparison.ts';
import { computeHorizonFigures, type HorizonFigures } from '../figures/horizon-figures.ts';
import type { RecordFigures } from '../figures/record-figures.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import type { ModelStore } from '../model-store.ts';
import { isOwnVenue } from '../own-venue.ts';
import type { HorizonRow } from './breakdown.ts';

type MarketSkill = NonNullable<ReturnType<typeof computeMarketSkill>>;

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
  readonly #skillCache = createCache<MarketSkill | null>('market-skill', 1);

  constructor(deps: StatisticsDeps) {
    this.#deps = deps;
    this.figures = deps.figures;
  }

  /** Figures of the forecasts of a filter, once per revision of the record. */
  async getSelection(filter: Filter<ForecastDoc>, horizonDays: number): Promise<HorizonFigures> {
    const { record, models } = this.#deps;
    const key = JSON.stringify([await record.readRevision(), horizonDays, filter]);
    return this.#selectionCache.get(key, async () => {
      const newestFirst = await record.listMatching({ ...filter, horizonDays });
      return computeHorizonFigures(models, newestFirst.reverse(), horizonDays);
    });
  }

  async getHorizonRows(): Promise<HorizonRow[]> {
    return (await this.figures.getHorizons()).map(({ row }) => row);
  }

  async getMarketSkill() {
    const { record, wagers, venueName, sameBook, now } = this.#deps;
    const through = await record.getLastPublicDay(now());
    const settled = await wagers.countSettledMarkets(through);
    const skill = await this.#skillCache.get(`${through} ${settled}`, async () => {
      const pins = (await readPins({ wagers, record })).filter(({ venue }) => sameBook.includes(venue));
      return computeMarketSkill(pins, through);
    });
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

/** Null before the first settled week, and while the market's score is 0. The interval is the weekly comparison's, so that both agree. */
export function computeMarketSkill(pins: readonly CrowdPin[], through: Day) {
  const { weeks } = compareWeekly(pins, through);
  const pairs = weeks.flatMap(({ market, oracle }) => (market === null || oracle === null ? [] : [[oracle.brier, market.brier]]));
  const market = computeMeanInterval(pairs.map(([, theirs]) => theirs));
  const difference = computeMeanInterval(pairs.map(([ours, theirs]) => ours - theirs));
  if (market === null || market.mean === 0 || difference === null) return null;
  const skillAt = (distance: number) => roundScore(1 - (market.mean + distance) / market.mean);
  return {
    weeks: pairs.length,
    oracleBrier: roundScore(market.mean + difference.mean),
    marketBrier: roundScore(market.mean),
    value: skillAt(difference.mean),
    low: difference.high === null ? null : skillAt(difference.high),
    // A Brier score is at least 0, so that a skill is at most 1.
    high: difference.low === null ? null : Math.min(1, skillAt(difference.low)),
  };
}
