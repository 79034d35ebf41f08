import type { Collection, Db } from 'mongodb';
import type { ConfirmedAttestation } from '../chain/eas/eas.ts';
import { type Day, formatDay, formatWeek, getLastDayOfWeek, type Week } from '../forecast/day.ts';
import { mean, sum } from '../forecast/math.ts';
import { formatHorizonName, HORIZONS, type HorizonDays } from '../forecast/model.ts';
import { REGIME_NAMES } from '../forecast/regime.ts';
import { computeAccuracy } from '../forecast/signal.ts';
import { computeChangePct } from '../market/feed.ts';
import { insertOrFind } from '../platform/mongo.ts';
import type { ReachedInstant } from '../platform/time.ts';
import { roundTo, sanitizeText } from '../platform/validation.ts';
import type { Publicity, WagerDoc } from '../wager/wagers.ts';
import type { Brief } from './briefs.ts';
import { sumCostWei } from './figures.ts';
import { computeLastPublicDay, type ForecastDoc, forecastAsOf, isOpenForecast } from './forecast-doc.ts';
import { isOwnVenue } from './forecasts.ts';
import type { KnownDay } from './projection.ts';
import { computeForecastBrier } from './scorecard.ts';

const BRIEFS = { collection: 'briefs', dayField: 'day', reportField: 'brief', formatId: formatDay } as const;
const WEEKLY_REPORTS = { collection: 'weekly_reports', dayField: 'week', reportField: 'report', formatId: formatWeek } as const;

export const REPORT_INDEXES = [BRIEFS, WEEKLY_REPORTS].map(({ collection, dayField }) => ({
  collection,
  indexes: [{ key: { [dayField]: 1 }, unique: true }],
}));

class ReportStore<Report extends object> {
  readonly #options: typeof BRIEFS | typeof WEEKLY_REPORTS;
  /** `_id` is `YYYY-MM-DD` of a brief, `2026-W47` of a weekly report. */
  readonly #reports: Collection<{ _id: string; [field: string]: unknown }>;

  constructor(db: Db, options: typeof BRIEFS | typeof WEEKLY_REPORTS) {
    this.#options = options;
    this.#reports = db.collection(options.collection);
  }

  async findByDay(day: Day): Promise<Report | null> {
    const doc = await this.#reports.findOne({ _id: this.#options.formatId(day) });
    return doc && (doc[this.#options.reportField] as Report);
  }

  async findLatest(): Promise<Report | null> {
    const doc = await this.#reports.findOne({}, { sort: { [this.#options.dayField]: -1 } });
    return doc && (doc[this.#options.reportField] as Report);
  }

  async listDays(limit = 0): Promise<Day[]> {
    const { dayField } = this.#options;
    const docs = await this.#reports.find({}, { sort: { [dayField]: -1 }, projection: { [dayField]: 1 }, limit }).toArray();
    return docs.map((doc) => doc[dayField] as Day);
  }

  async findLastDay(): Promise<Day | null> {
    return (await this.listDays(1))[0] ?? null;
  }

  async saveOnce(day: Day, report: Report, _due: ReachedInstant): Promise<Report> {
    const { dayField, reportField, formatId } = this.#options;
    const stored = await insertOrFind(this.#reports, { _id: formatId(day), [dayField]: day, [reportField]: report });
    return stored[reportField] as Report;
  }
}

export type ReportStores = ReturnType<typeof openReportStores>;

export function openReportStores(db: Db) {
  return { briefs: new ReportStore<Brief>(db, BRIEFS), weekly: new ReportStore<WeeklyReport>(db, WEEKLY_REPORTS) };
}

/** Of a source or a reason. */
const MAX_TEXT_CHARS = 200;

export type WeeklyReport = ReturnType<typeof composeWeeklyReport>;

export interface WeeklyReportData {
  week: Week;
  /** Due times of the previous report and of this one: what happened in between belongs to this one. */
  before: Date;
  asOf: Date;
  generatedAt: Date;
  late: boolean;
  source: string;
  /** Closes in USD of the Sunday before and of the week's Sunday; null without a quorum. */
  openUsd: number | null;
  closeUsd: number | null;
  days: readonly KnownDay[];
  forecasts: readonly ForecastDoc[];
  /** Settled ones. */
  stakes: readonly WagerDoc[];
}

export function composeWeeklyReport(data: WeeklyReportData) {
  const { week, before, asOf, generatedAt, late, days, stakes } = data;
  const forecasts = data.forecasts.filter((doc) => doc.day <= getLastDayOfWeek(week));
  const known = forecasts.map((doc) => forecastAsOf(doc, asOf));
  const missed = days.filter(({ missedBecause }) => missedBecause !== null).length;
  return {
    weekId: formatWeek(week),
    from: formatDay(week),
    to: formatDay(getLastDayOfWeek(week)),
    asOf: asOf.toISOString(),
    generatedAt: generatedAt.toISOString(),
    late,
    source: sanitizeText(data.source, MAX_TEXT_CHARS),
    days: {
      recorded: days.length,
      forecast: days.length - missed,
      missed,
      late: days.filter((day) => day.late && day.missedBecause === null).length,
      replayed: days.filter(({ replayed }) => replayed).length,
    },
    replayed: days.some(({ replayed }) => replayed),
    market: toWeeklyMarket(data.openUsd, data.closeUsd),
    regimes: REGIME_NAMES.map((regime) => ({ regime, days: days.filter((day) => day.regime === regime).length })).filter(
      (entry) => entry.days > 0,
    ),
    horizons: HORIZONS.map((horizonDays) => summarizeHorizonWeek(horizonDays, known, data)),
    wagers: summarizeNewlyPublicWagers(stakes, forecasts, { before, asOf }),
    attestations: summarizeAttestations(known, before),
    incidents: listWeeklyIncidents(days, known, asOf),
  };
}

/** In cents, as outcomes are settled; the change is that of the rounded closes. */
function toWeeklyMarket(open: number | null, close: number | null) {
  const [openUsd, closeUsd] = [open, close].map((usd) => usd && roundTo(usd, 2));
  return { openUsd, closeUsd, changePct: computeChangePct(openUsd, closeUsd) };
}

function summarizeAttestations(known: readonly ForecastDoc[], before: Date) {
  const since = (references: (ConfirmedAttestation | null)[]) =>
    references.filter((one): one is ConfirmedAttestation => one !== null && one.at > before);
  const predictions = since(known.map(({ attestation }) => attestation));
  const resolutions = since(known.map(({ reveal }) => reveal));
  const all = [...predictions, ...resolutions];
  return {
    predictions: predictions.length,
    resolutions: resolutions.length,
    transactions: new Set(all.map(({ txHash }) => txHash)).size,
    gasWei: sumCostWei(all).toString(),
  };
}

function summarizeHorizonWeek(horizonDays: HorizonDays, known: readonly ForecastDoc[], { week, before }: WeeklyReportData) {
  const docs = known.filter((doc) => doc.horizonDays === horizonDays);
  const made = docs.filter(({ day }) => day >= week);
  const over = docs.filter(({ reveal }) => reveal !== null && reveal.at > before);
  const scored = over.filter(({ state }) => state === 'WIN' || state === 'LOSS');
  const wins = scored.filter(({ state }) => state === 'WIN').length;
  return {
    horizon: formatHorizonName(horizonDays),
    made: made.filter(({ missed }) => !missed).length,
    missed: made.filter(({ missed }) => missed).length,
    void: made.filter(({ state, missed }) => state === 'VOID' && !missed).length,
    over: over.length,
    wins,
    losses: scored.length - wins,
    holds: over.length - scored.length,
    hitRate: scored.length === 0 ? null : wins / scored.length,
    alwaysUpRate: computeAccuracy(scored.map(({ resolution }) => (resolution!.actualDirection === 'UP' ? 'WIN' : 'LOSS'))),
    meanReturnBps: meanToOneDigit(over.map(({ resolution }) => resolution!.returnBps)),
    meanCalledReturnBps: meanToOneDigit(
      scored.map(({ values, resolution }) => (values!.direction === 'UP' ? resolution!.returnBps : -resolution!.returnBps)),
    ),
    brier: computeForecastBrier(over),
    openAtEnd: docs.filter(isOpenForecast).length,
  };
}

function meanToOneDigit(values: number[]): number | null {
  return values.length === 0 ? null : roundTo(mean(values), 1);
}

export const INCIDENTS = ['late', 'missed', 'void', 'uncommitted', 'waiting'] as const;

function listWeeklyIncidents(days: readonly KnownDay[], known: readonly ForecastDoc[], asOf: Date) {
  const inWeek = new Set(days.map(({ day }) => day));
  const forecast = known.filter(({ missed }) => !missed);
  const voided = forecast.filter(({ day, state }) => state === 'VOID' && inWeek.has(day));
  const drafts = forecast.filter(({ state }) => state === 'DRAFT');
  const waiting = forecast.filter(({ state, resolvesAt }) => state === 'PENDING' && resolvesAt <= asOf);
  return [
    ...days.flatMap(listDayIncidents),
    ...toIncidentsByDate(voided, 'void', 'committed after their window had opened: they never count'),
    ...toIncidentsByDate(drafts, 'uncommitted', 'not on chain when the week was over'),
    ...toIncidentsByDate(waiting, 'waiting', 'over, and waiting for their resolution when the week was over'),
  ].toSorted((a, b) => a.date.localeCompare(b.date));
}

type WeeklyIncident = ReturnType<typeof toIncidentsByDate>[number];

function listDayIncidents({ _id: date, missedBecause, late }: KnownDay): WeeklyIncident[] {
  if (missedBecause !== null) return [{ date, kind: 'missed', detail: sanitizeText(missedBecause, MAX_TEXT_CHARS) }];
  return late ? [{ date, kind: 'late', detail: 'forecast after its time' }] : [];
}

function toIncidentsByDate(docs: readonly ForecastDoc[], kind: (typeof INCIDENTS)[number], detail: string) {
  return [...Map.groupBy(docs, ({ day }) => day)].map(([day, members]) => ({
    date: formatDay(day),
    kind,
    detail: `${members.map(({ horizonDays }) => `${horizonDays}d`).join(', ')}: ${detail}`,
  }));
}

/** Settled stakes that became public between `before` and `asOf`, by venue, so that each stake is in one report only. */
export function summarizeNewlyPublicWagers(
  stakes: readonly WagerDoc[],
  forecasts: readonly ForecastDoc[],
  { before, asOf }: { before: Date; asOf: Date },
) {
  const earlier = new Set(listPublicWagers(stakes, forecasts, before));
  const newlyPublic = listPublicWagers(stakes, forecasts, asOf).filter((stake) => !earlier.has(stake));
  return [...Map.groupBy(newlyPublic, ({ venue, asset }) => `${venue} ${asset}`).values()].map(sumWagers);
}

/** @param forecasts at least those that were not public */
function computePublicity(forecasts: readonly ForecastDoc[], at: Date): Publicity {
  const known = forecasts.map((doc) => forecastAsOf(doc, at));
  return { at, throughDay: computeLastPublicDay(known, at) };
}

function listPublicWagers(stakes: readonly WagerDoc[], forecasts: readonly ForecastDoc[], at: Date): WagerDoc[] {
  const { throughDay } = computePublicity(forecasts, at);
  return stakes.filter(({ day, settledAt }) => day <= throughDay && settledAt !== null && settledAt <= at);
}

function sumWagers(stakes: WagerDoc[]) {
  const [{ venue, asset }] = stakes;
  const count = (wanted: WagerDoc['state']) => stakes.filter(({ state }) => state === wanted).length;
  const stakedMicros = sum(stakes.map(({ costMicros }) => costMicros));
  const payoutMicros = sum(stakes.map((stake) => stake.payoutMicros ?? 0));
  return {
    venue,
    asset,
    quotesAreOurs: isOwnVenue(venue),
    settled: stakes.length,
    wins: count('WIN'),
    losses: count('LOSS'),
    voids: count('VOID'),
    stakedMicros,
    payoutMicros,
    pnlMicros: payoutMicros - stakedMicros,
  };
}
