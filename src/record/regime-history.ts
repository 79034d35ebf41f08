import { type Day, formatDay } from '../forecast/day.ts';
import { REGIMES, type Regime } from '../forecast/regime.ts';
import type { Market } from '../market/market.ts';
import type { DayDoc } from './forecast-doc.ts';
import type { ForecastRecord } from './forecasts.ts';
import { computeFreshness, notYetMadeError } from './public-signal.ts';

type StoredDay = Pick<DayDoc, keyof typeof DAY_PROJECTION>;
type EvaluatedDay = StoredDay & { regime: Regime };

const DAY_PROJECTION = { day: 1, signalAt: 1, regime: 1, regimeFactors: 1, missedBecause: 1, replayed: 1 } as const;

export async function getCurrentRegime({ record, market }: { record: ForecastRecord; market: Pick<Market, 'coverage'> }, now: Date) {
  const newest = await findNewestEvaluatedDay(record, Number.MAX_SAFE_INTEGER);
  if (newest === null || newest.regimeFactors === null) throw notYetMadeError('regime');
  const { day, regime, regimeFactors: factors, signalAt, replayed } = newest;
  const { riskLevel, description } = REGIMES[regime];
  const [{ since, previousRegime }, lastDay, { lastDay: lastCovered }] = await Promise.all([
    findRegimeRun(record, newest),
    record.findLastDay(),
    market.coverage(),
  ]);
  const { nextSignalAt: nextEvaluationAt, ...freshness } = computeFreshness(newest, { lastDay: lastDay ?? day, lastCovered }, now);
  const held = { date: formatDay(day), since: formatDay(since), daysHeld: day - since + 1, previousRegime };
  return { regime, description, riskLevel, timestamp: signalAt.toISOString(), factors, ...held, ...freshness, nextEvaluationAt, replayed };
}

/** First day of the current run and the regime before it; a missed day does not end a run. */
async function findRegimeRun(record: ForecastRecord, { regime }: EvaluatedDay): Promise<{ since: Day; previousRegime: Regime | null }> {
  const other = await record.days.findOne({ regime: { $nin: [regime, null] } }, { sort: { day: -1 }, projection: DAY_PROJECTION });
  const first = await record.days.findOne({ day: { $gt: other?.day ?? -1 }, regime }, { sort: { day: 1 }, projection: DAY_PROJECTION });
  return { since: first!.day, previousRegime: other?.regime ?? null };
}

async function findNewestEvaluatedDay(record: ForecastRecord, day: Day): Promise<EvaluatedDay | null> {
  const found = await record.days.findOne({ day: { $lt: day }, regime: { $ne: null } }, { sort: { day: -1 }, projection: DAY_PROJECTION });
  return found as EvaluatedDay | null;
}

export async function readRegimeHistory(record: ForecastRecord, limit: number) {
  const days: StoredDay[] = await record.days.find({}, { projection: DAY_PROJECTION }).sort({ day: -1 }).limit(limit).toArray();
  const before = days.length === 0 ? null : await findNewestEvaluatedDay(record, days[days.length - 1].day);
  const shown = days.map(({ day, regime, signalAt, missedBecause, replayed }) => ({
    date: formatDay(day),
    regime,
    riskLevel: regime && REGIMES[regime].riskLevel,
    timestamp: signalAt.toISOString(),
    missed: missedBecause !== null,
    replayed,
  }));
  return { days: shown, transitions: listTransitions(days.toReversed(), before).reverse() };
}

function listTransitions(days: readonly StoredDay[], before: EvaluatedDay | null) {
  const evaluated = days.filter((day): day is EvaluatedDay => day.regime !== null);
  return evaluated.flatMap(({ day, regime, signalAt, replayed }, index) => {
    const from = (evaluated[index - 1] ?? before)?.regime;
    if (from === undefined || from === regime) return [];
    return [{ date: formatDay(day), from, to: regime, timestamp: signalAt.toISOString(), replayed }];
  });
}
