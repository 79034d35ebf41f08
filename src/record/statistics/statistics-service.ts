import { createHash } from 'node:crypto';
import { type Day, formatDay } from '../../forecast/day.ts';
import { computeMeanInterval } from '../../forecast/math/mean-interval.ts';
import { HORIZONS } from '../../forecast/model.ts';
import { computeRecordStatistics, type RecordStatistics } from '../../forecast/statistics/record-statistics.ts';
import { createCache } from '../../platform/cache.ts';
import { type CrowdPin, readPins, roundScore } from '../crowd/crowd-pins.ts';
import type { MarketComparisonDeps } from '../crowd/market-comparison.ts';
import { compareWeekly } from '../crowd/weekly-comparison.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import type { ModelStore } from '../model-store.ts';
import { isOwnVenue } from '../own-venue.ts';
import { buildHorizonRow, groupByModelVersion, groupByRegime, type HorizonRow } from './breakdown.ts';
import { scoreForecasts } from './score-forecasts.ts';

type MarketSkill = NonNullable<ReturnType<typeof computeMarketSkill>>;

const MAX_CACHED_SELECTIONS = 64;

export interface StatisticsDeps extends MarketComparisonDeps {
  models: Pick<ModelStore, 'get'>;
}

const STRIKE_QUESTION_NOTE =
  'A different question from UP or DOWN: whether the price is above the strike nearest to the money at the weekly expiry, one strike per week, whatever the horizon of this record.';
const OWN_QUOTES_NOTE = 'The quotes are made by this service itself: skill against them proves nothing.';

/** Cached because resampling dominates response time; keys come from the database, so that all processes serve the same. */
export class StatisticsService {
  readonly #deps: StatisticsDeps;
  readonly #statisticsCache = createCache<RecordStatistics>('record-statistics', MAX_CACHED_SELECTIONS);
  readonly #horizonCache = createCache<HorizonRow[]>('record-by-horizon', 1);
  readonly #skillCache = createCache<MarketSkill | null>('market-skill', 1);

  constructor(deps: StatisticsDeps) {
    this.#deps = deps;
  }

  /** Of one horizon's forecasts in sequence order; unresolved ones add nothing. */
  computeStatistics(docs: readonly ForecastDoc[], horizonDays: number): Promise<RecordStatistics> {
    return this.#statisticsCache.get(digestScoredForecasts(docs, horizonDays), async () =>
      computeRecordStatistics(await scoreForecasts(this.#deps.models, docs), horizonDays),
    );
  }

  async getHorizonRows(): Promise<HorizonRow[]> {
    const { record } = this.#deps;
    // Forecasts are only added and each resolves once, so that equal counts identify the same record.
    const counts = await record.countByState();
    return this.#horizonCache.get(JSON.stringify(counts), () =>
      Promise.all(HORIZONS.map(async (horizonDays) => buildHorizonRow(await record.listByHorizon(horizonDays), horizonDays))),
    );
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

  async getDetails(docs: readonly ForecastDoc[], horizonDays: number) {
    const [statistics, byHorizon, marketSkill] = await Promise.all([
      this.computeStatistics(docs, horizonDays),
      this.getHorizonRows(),
      this.getMarketSkill(),
    ]);
    const [byRegime, byModelVersion] = [groupByRegime(docs, horizonDays), groupByModelVersion(docs, horizonDays)];
    return { statistics, byHorizon, byRegime, byModelVersion, marketSkill };
  }
}

function digestScoredForecasts(docs: readonly ForecastDoc[], horizonDays: number): string {
  const hash = createHash('sha256').update(String(horizonDays));
  for (const { day, reveal, values, resolution, modelVersion } of docs) {
    if (reveal === null || values === null || resolution === null) continue;
    const { signal, direction, pUpBps, climatology, distribution, btcPriceCents } = values;
    const { actualDirection, btcAtResolutionCents } = resolution;
    const committed = [signal, direction, pUpBps, climatology, distribution.scale, distribution.shift, btcPriceCents];
    hash.update(JSON.stringify([day, modelVersion, ...committed, actualDirection, btcAtResolutionCents]));
  }
  return hash.digest('hex');
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
