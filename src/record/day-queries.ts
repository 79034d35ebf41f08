import type { Day } from '../forecast/day.ts';
import type { DayDoc } from './day-doc.ts';
import type { ForecastDoc } from './forecast-doc.ts';
import type { ForecastRecord } from './forecast-record.ts';

export function listForecastsThrough({ forecasts }: ForecastRecord, day: Day): Promise<ForecastDoc[]> {
  return forecasts
    .find({ day: { $lte: day } }, { hint: { day: 1 } })
    .sort({ day: 1, horizonDays: 1 })
    .toArray();
}

export function listDaysBetween({ days }: ForecastRecord, from: Day, to: Day): Promise<DayDoc[]> {
  return days
    .find({ day: { $gte: from, $lte: to } }, { hint: { day: 1 } })
    .sort({ day: 1 })
    .toArray();
}

export function findLastForecastDay({ days }: ForecastRecord, through: Day): Promise<DayDoc | null> {
  return days.findOne({ day: { $lte: through }, missedBecause: null }, { sort: { day: -1 }, hint: { day: 1 } });
}
