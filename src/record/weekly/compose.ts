import type { ConfirmedAttestation } from '../../chain/eas/attester.ts';
import { formatDay } from '../../forecast/day.ts';
import { HORIZONS, type HorizonDays } from '../../forecast/model.ts';
import { REGIME_NAMES } from '../../forecast/regime/regime.ts';
import { formatWeek, getLastDayOfWeek, type Week } from '../../forecast/week.ts';
import { computeChangePct } from '../../market/numbers.ts';
import { roundTo } from '../../platform/round.ts';
import type { WagerDoc } from '../../wager/wager-book.ts';
import { sumCostWei } from '../attestations/attestation-figures.ts';
import type { DayDoc } from '../day-doc.ts';
import { type ForecastDoc, forecastAsOf, isOpenForecast } from '../forecast-doc.ts';
import { sanitizeText } from '../sanitize-text.ts';
import { summarizeHorizonWeek } from './horizon.ts';
import { listWeeklyIncidents } from './incidents.ts';
import { summarizeNewlyPublicWagers } from './wagers.ts';

const MAX_SOURCE_CHARS = 200;

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
  days: readonly DayDoc[];
  /** As `listForecastsOfReport` returns them; earlier ones change nothing. */
  forecasts: readonly ForecastDoc[];
  /** Settled ones; those that were public before change nothing. */
  stakes: readonly WagerDoc[];
}

export function composeWeeklyReport(data: WeeklyReportData) {
  const { week, before, asOf, generatedAt, late, days, stakes } = data;
  const forecasts = data.forecasts.filter((doc) => doc.day <= getLastDayOfWeek(week));
  const known = forecasts.map((doc) => forecastAsOf(doc, asOf));
  return {
    weekId: formatWeek(week),
    from: formatDay(week),
    to: formatDay(getLastDayOfWeek(week)),
    asOf: asOf.toISOString(),
    generatedAt: generatedAt.toISOString(),
    late,
    source: sanitizeText(data.source, MAX_SOURCE_CHARS),
    days: countDays(days),
    replayed: days.some(({ replayed }) => replayed),
    market: toWeeklyMarket(data.openUsd, data.closeUsd),
    regimes: countRegimes(days),
    horizons: HORIZONS.map((horizonDays) => composeHorizon(horizonDays, known, data)),
    wagers: summarizeNewlyPublicWagers(stakes, forecasts, { before, asOf }),
    attestations: summarizeAttestations(known, before),
    incidents: listWeeklyIncidents(days, known, asOf),
  };
}

function countDays(days: readonly DayDoc[]) {
  const missed = days.filter(({ missedBecause }) => missedBecause !== null).length;
  return {
    recorded: days.length,
    forecast: days.length - missed,
    missed,
    late: days.filter(({ late, missedBecause }) => late && missedBecause === null).length,
    replayed: days.filter(({ replayed }) => replayed).length,
  };
}

/** In cents, as outcomes are settled; the change is that of the rounded closes. */
function toWeeklyMarket(open: number | null, close: number | null) {
  const [openUsd, closeUsd] = [open, close].map((usd) => usd && roundTo(usd, 2));
  return { openUsd, closeUsd, changePct: computeChangePct(openUsd, closeUsd) };
}

function countRegimes(days: readonly DayDoc[]) {
  return REGIME_NAMES.map((regime) => ({ regime, days: days.filter((day) => day.regime === regime).length })).filter(
    (entry) => entry.days > 0,
  );
}

function composeHorizon(horizonDays: HorizonDays, known: readonly ForecastDoc[], { week, before }: WeeklyReportData) {
  const docs = known.filter((doc) => doc.horizonDays === horizonDays);
  return summarizeHorizonWeek(horizonDays, {
    made: docs.filter(({ day }) => day >= week),
    over: docs.filter(({ reveal }) => reveal !== null && reveal.at > before),
    open: docs.filter(isOpenForecast).length,
  });
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
