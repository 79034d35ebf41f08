import type { Attested } from '../../chain/attester.ts';
import { formatDay } from '../../forecast/day.ts';
import { HORIZONS, type HorizonDays } from '../../forecast/model.ts';
import { REGIME_NAMES } from '../../forecast/regime.ts';
import { formatWeek, lastDayOfWeek, type Week } from '../../forecast/week.ts';
import { changePct } from '../../market/reports/numbers.ts';
import type { WagerDoc } from '../../wager/wagers.ts';
import { forecastAsOf } from '../as-of.ts';
import { totalCost } from '../attestations.ts';
import type { DayDoc } from '../day-record.ts';
import { type ForecastDoc, fromCents, toCents } from '../forecast.ts';
import { plainText } from '../plain-text.ts';
import { weeklyHorizon } from './horizon.ts';
import { incidentsOf } from './incidents.ts';
import { wagersToldBetween } from './wagers.ts';
import type { WeeklyReport } from './weekly-report.ts';

const MAX_SOURCE = 200;

export interface WeeklyMaterial {
  week: Week;
  /** When the reports on the week before and on this one are due: what happened in between belongs to this one. */
  before: Date;
  asOf: Date;
  generatedAt: Date;
  late: boolean;
  source: string;
  /** Closes of the Sunday before and of the Sunday that ends the week, in USD; null where none was agreed on. */
  openUsd: number | null;
  closeUsd: number | null;
  /** The days of the week that the record holds. */
  days: readonly DayDoc[];
  /** All forecasts up to the end of the week, as the record holds them now. */
  forecasts: readonly ForecastDoc[];
  stakes: readonly WagerDoc[];
}

/** The report on a week, from what was known at `asOf`: made later it is the same. */
export function composeWeekly(material: WeeklyMaterial): WeeklyReport {
  const { week, before, asOf, generatedAt, late, days, stakes } = material;
  const forecasts = material.forecasts.filter((doc) => doc.day <= lastDayOfWeek(week));
  const known = forecasts.map((doc) => forecastAsOf(doc, asOf));
  return {
    weekId: formatWeek(week),
    from: formatDay(week),
    to: formatDay(lastDayOfWeek(week)),
    asOf: asOf.toISOString(),
    generatedAt: generatedAt.toISOString(),
    late,
    source: plainText(material.source, MAX_SOURCE),
    days: daysOf(days),
    replayed: days.some(({ replayed }) => replayed),
    market: marketOf(material.openUsd, material.closeUsd),
    regimes: regimesOf(days),
    horizons: HORIZONS.map((horizonDays) => horizonOf(horizonDays, known, material)),
    wagers: wagersToldBetween(stakes, forecasts, { before, asOf }),
    attestations: attestationsOf(known, before),
    incidents: incidentsOf(days, known, asOf),
  };
}

function daysOf(days: readonly DayDoc[]): WeeklyReport['days'] {
  const missed = days.filter(({ missedBecause }) => missedBecause !== null).length;
  return {
    recorded: days.length,
    forecast: days.length - missed,
    missed,
    late: days.filter(({ late, missedBecause }) => late && missedBecause === null).length,
    replayed: days.filter(({ replayed }) => replayed).length,
  };
}

/** In cents, as outcomes are settled; the change is that of the closes told. */
function marketOf(open: number | null, close: number | null): WeeklyReport['market'] {
  const [openUsd, closeUsd] = [open, close].map((usd) => (usd === null ? null : fromCents(toCents(usd))));
  return { openUsd, closeUsd, changePct: changePct(openUsd, closeUsd) };
}

function regimesOf(days: readonly DayDoc[]): WeeklyReport['regimes'] {
  return REGIME_NAMES.map((regime) => ({ regime, days: days.filter((day) => day.regime === regime).length })).filter(
    (entry) => entry.days > 0,
  );
}

function horizonOf(
  horizonDays: HorizonDays,
  known: readonly ForecastDoc[],
  { week, before }: WeeklyMaterial,
): WeeklyReport['horizons'][number] {
  const docs = known.filter((doc) => doc.horizonDays === horizonDays);
  return weeklyHorizon(horizonDays, {
    made: docs.filter(({ day }) => day >= week),
    over: docs.filter(({ reveal }) => reveal !== null && reveal.at > before),
    open: docs.filter(({ state, missed }) => !missed && (state === 'DRAFT' || state === 'PENDING')).length,
  });
}

/** What was written on chain between the two instants. */
function attestationsOf(known: readonly ForecastDoc[], before: Date): WeeklyReport['attestations'] {
  const since = (references: (Attested | null)[]) => references.filter((one): one is Attested => one !== null && one.at > before);
  const predictions = since(known.map(({ attestation }) => attestation));
  const resolutions = since(known.map(({ reveal }) => reveal));
  const all = [...predictions, ...resolutions];
  return {
    predictions: predictions.length,
    resolutions: resolutions.length,
    transactions: new Set(all.map(({ txHash }) => txHash)).size,
    gasWei: totalCost(all).toString(),
  };
}
