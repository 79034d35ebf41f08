import { createHash } from 'node:crypto';
import { formatDay } from '../../forecast/day.ts';
import { HORIZONS } from '../../forecast/model.ts';
import { type RecordStatistics, recordStatistics } from '../../forecast/statistics/record-statistics.ts';
import { createCache } from '../../market/cache.ts';
import type { WagerBook } from '../../wager/wagers.ts';
import { readPins } from '../crowd/pins.ts';
import type { ForecastDoc } from '../forecast.ts';
import type { ModelStore } from '../models.ts';
import type { ForecastRecord } from '../record.ts';
import { byModelVersion, byRegime, type HorizonRow, horizonRow, type ModelVersionRow, type RegimeRow } from './breakdown.ts';
import { type MarketSkill, marketSkillOf } from './market-skill.ts';
import { scoredForecasts } from './scored-forecasts.ts';

/** Selections of forecasts whose statistics are remembered; the whole records are four of them. */
const REMEMBERED = 64;

export interface DeskParts {
  record: ForecastRecord;
  models: Pick<ModelStore, 'get'>;
  wagers: WagerBook;
  venueName: string;
  /** Names of the venues that quote the same book as that one, itself included. */
  sameBook: readonly string[];
  now(): Date;
}

/** What a record of one horizon is worth, with what it is made of. The same for all callers. */
export interface RecordDetails {
  statistics: RecordStatistics;
  byHorizon: HorizonRow[];
  byRegime: RegimeRow[];
  byModelVersion: ModelVersionRow[];
  marketSkill: ToldMarketSkill;
}

/** The comparison with the market beside the statistics of a horizon. */
export interface ToldMarketSkill {
  venue: string;
  quotesAreOurs: boolean;
  /** Last day whose wager is in it, `YYYY-MM-DD`. */
  throughDate: string;
  /** Null before the first settled week. */
  skill: MarketSkill | null;
  note: string;
}

const OTHER_QUESTION =
  'Another question than UP or DOWN: whether the price is above the strike closest to the money at the expiry of the week, one strike a week, whatever the horizon of this record.';
const OURS = 'The quotes are made by this service itself: skill against them proves nothing.';

/**
 * Statistics with error bars, computed once for what has been told: resampling costs more than all else in an answer. What they are
 * remembered by is read from the database, so that every process tells the same.
 */
export class StatisticsDesk {
  readonly #parts: DeskParts;
  readonly #statistics = createCache<RecordStatistics>('record-statistics', REMEMBERED);
  readonly #horizons = createCache<HorizonRow[]>('record-by-horizon', 1);
  readonly #skill = createCache<MarketSkill | null>('market-skill', 1);

  constructor(parts: DeskParts) {
    this.#parts = parts;
  }

  /** Statistics of forecasts of one horizon, given in the order of their sequence; those whose outcome is not told add nothing. */
  statisticsOf(docs: readonly ForecastDoc[], horizonDays: number): Promise<RecordStatistics> {
    return this.#statistics.get(digestOf(docs, horizonDays), async () =>
      recordStatistics(await scoredForecasts(this.#parts.models, docs), horizonDays),
    );
  }

  /** All forecasts of every horizon in short. */
  async byHorizon(): Promise<HorizonRow[]> {
    const { record } = this.#parts;
    // Forecasts are only added, and each comes to its end once: equal counts are the same record.
    const counts = await record.countByState();
    return this.#horizons.get(JSON.stringify(counts), () =>
      Promise.all(HORIZONS.map(async (horizonDays) => horizonRow(await record.ofHorizon(horizonDays), horizonDays))),
    );
  }

  /** The oracle against the market on weekly strikes, up to the day that everybody may know. */
  async marketSkill(): Promise<ToldMarketSkill> {
    const { record, wagers, venueName, sameBook, now } = this.#parts;
    const through = await record.lastDayTold(now());
    const settled = await wagers.settledMarkets(through);
    const skill = await this.#skill.get(`${through} ${settled}`, async () => {
      const pins = await readPins({ wagers, record });
      return marketSkillOf(
        pins.filter(({ venue }) => sameBook.includes(venue)),
        through,
      );
    });
    const quotesAreOurs = sameBook.includes('paper');
    const note = quotesAreOurs ? `${OTHER_QUESTION} ${OURS}` : OTHER_QUESTION;
    return { venue: venueName, quotesAreOurs, throughDate: formatDay(through), skill, note };
  }

  /** All of it for the whole record of a horizon, given in the order of its sequence. */
  async details(docs: readonly ForecastDoc[], horizonDays: number): Promise<RecordDetails> {
    const [statistics, horizons, marketSkill] = await Promise.all([
      this.statisticsOf(docs, horizonDays),
      this.byHorizon(),
      this.marketSkill(),
    ]);
    const [regimes, versions] = [byRegime(docs, horizonDays), byModelVersion(docs, horizonDays)];
    return { statistics, byHorizon: horizons, byRegime: regimes, byModelVersion: versions, marketSkill };
  }
}

/** Digest of all that the statistics of these forecasts are made of. */
function digestOf(docs: readonly ForecastDoc[], horizonDays: number): string {
  const hash = createHash('sha256').update(String(horizonDays));
  for (const { day, reveal, values, resolution, modelVersion } of docs) {
    if (reveal === null || values === null || resolution === null) continue;
    const { signal, direction, pUpBps, climatology, distribution, btcPriceCents } = values;
    const { actualDirection, btcAtResolutionCents } = resolution;
    const said = [signal, direction, pUpBps, climatology, distribution.scale, distribution.shift, btcPriceCents];
    hash.update(JSON.stringify([day, modelVersion, ...said, actualDirection, btcAtResolutionCents]));
  }
  return hash.digest('hex');
}
