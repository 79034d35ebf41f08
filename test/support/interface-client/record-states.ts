import type { Hex } from 'viem';
import type { ConfirmedAttestation } from '../../../src/chain/eas/eas.ts';
import { DAY_MS } from '../../../src/forecast/day.ts';
import type { DistributionScoresDoc } from '../../../src/record/distribution-scores.ts';
import { type ForecastDoc, formatForecastId } from '../../../src/record/forecast-doc.ts';
import type { TestService } from '../service/service.ts';

/** Makes the record of each horizon `days` long, with copies of its resolved days before its first, scores included. In the database alone. */
export async function lengthenRecord({ pipeline: { record }, database: { db } }: TestService, days: number): Promise<void> {
  const [forecasts, scores] = [db.collection<ForecastDoc>('forecasts'), db.collection<DistributionScoresDoc>('distribution_scores')];
  const docs = await forecasts.find({}).sort({ day: 1 }).toArray();
  const scoresById = new Map((await scores.find().toArray()).map((one) => [one._id, one]));
  const copies = [...Map.groupBy(docs, ({ horizonDays }) => horizonDays).values()].flatMap((own) => {
    const resolved = own.filter(({ reveal }) => reveal !== null);
    return Array.from({ length: days - own.length }, (_, index) => ({
      of: resolved[index % resolved.length],
      day: own[0].day - 1 - index,
    }));
  });
  await forecasts.insertMany(copies.map(({ of, day }) => copyOf(of, day)));
  const scored = copies.flatMap(({ of, day }) => {
    const found = scoresById.get(of._id);
    return found === undefined ? [] : [{ ...found, _id: formatForecastId(day, of.horizonDays), day }];
  });
  await scores.insertMany(scored);
  await record.known.load();
}

function copyOf(doc: ForecastDoc, day: number): ForecastDoc {
  const moved = (date: Date) => new Date(date.getTime() + (day - doc.day) * DAY_MS);
  const attested = (attestation: ConfirmedAttestation, kind: number): ConfirmedAttestation => {
    const uid: Hex = `0x${(day * 100 + doc.horizonDays * 10 + kind).toString(16).padStart(64, '0')}`;
    return { ...attestation, uid, at: moved(attestation.at) };
  };
  return {
    ...doc,
    _id: formatForecastId(day, doc.horizonDays),
    day,
    sequence: day - doc.day + doc.sequence,
    signalAt: moved(doc.signalAt),
    windowOpensAt: moved(doc.windowOpensAt),
    resolvesAt: moved(doc.resolvesAt),
    attestation: attested(doc.attestation!, 1),
    reveal: attested(doc.reveal!, 2),
  };
}

/** Turns every forecast of a horizon into an abstention. In the database alone: commitments are not those of the chain any more. */
export async function abstainOn({ pipeline }: TestService, horizonDays: number): Promise<void> {
  const { forecasts } = pipeline.record;
  await forecasts.updateMany({ horizonDays }, { $set: { 'values.signal': 'HOLD' } });
  await forecasts.updateMany({ horizonDays, resolution: { $ne: null } }, { $set: { state: 'HOLD', 'resolution.outcome': 'HOLD' } });
}

/** Puts the newest day back to where it was between its signal and the opening of its windows. In the database alone. */
export async function unopenNewest({ pipeline }: TestService): Promise<void> {
  const { forecasts } = pipeline.record;
  const [newest] = await forecasts.find({}).sort({ day: -1 }).limit(1).toArray();
  await forecasts.updateMany({ day: newest.day }, { $set: { btcAtSignalCents: null } });
}
