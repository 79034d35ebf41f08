import { type Day, formatDay } from '../forecast/day.ts';
import { LARGE_READ_BATCH } from '../platform/mongo.ts';
import type { DayDoc } from './day-doc.ts';
import type { ForecastDoc } from './forecast-doc.ts';
import type { ForecastRecord } from './forecast-record.ts';

export function listForecastsThrough({ forecasts }: ForecastRecord, day: Day): Promise<ForecastDoc[]> {
  return forecasts
    .find({ day: { $lte: day } }, { hint: { day: 1 }, batchSize: LARGE_READ_BATCH })
    .sort({ day: 1, horizonDays: 1 })
    .toArray();
}

/**
 * Of days up to `through`, what a report on the time since `after` may contain: forecasts of days from `from` on, those without a revealed
 * outcome at `after`, and those committed since.
 */
export function listForecastsOfReport(
  { forecasts }: ForecastRecord,
  { from, through, after }: { from: Day; through: Day; after: Date },
): Promise<ForecastDoc[]> {
  const isOfReport = [{ day: { $gte: from } }, { reveal: null }, { 'reveal.at': { $gt: after } }, { 'attestation.at': { $gt: after } }];
  return forecasts
    .find({ day: { $lte: through }, $or: isOfReport }, { hint: { day: 1 } })
    .sort({ day: 1, horizonDays: 1 })
    .toArray();
}

export function listDaysBetween({ days }: ForecastRecord, from: Day, to: Day): Promise<DayDoc[]> {
  return days
    .find({ day: { $gte: from, $lte: to } }, { hint: { day: 1 }, projection: { distributions: 0 } })
    .sort({ day: 1 })
    .toArray();
}

export function findLastForecastDay({ days }: ForecastRecord, through: Day): Promise<DayDoc | null> {
  return days.findOne(
    { day: { $lte: through }, missedBecause: null },
    { sort: { day: -1 }, hint: { day: 1 }, projection: { distributions: 0 } },
  );
}

/** Metadata and distributions of days, by day. */
export async function listCommittedDays({ days }: Pick<ForecastRecord, 'days'>, wanted: readonly Day[], horizons: readonly number[]) {
  const ids = [...new Set(wanted)].map(formatDay);
  const distributions = Object.fromEntries(horizons.map((horizonDays) => [`distributions.${horizonDays}`, 1]));
  const projection = { day: 1, models: 1, ...distributions, 'metadata.json': 1 };
  const docs = await days.find({ _id: { $in: ids } }, { projection }).toArray();
  return new Map(docs.map((doc): [Day, Pick<DayDoc, 'metadata' | 'models' | 'distributions'>] => [doc.day, doc]));
}
