import { createOutboxEntry } from '../../platform/outbox.ts';
import { computeForecastCommitment } from '../commitment/commitment.ts';
import type { DayDoc } from '../day-doc.ts';
import { type CommittedValues, type ForecastDoc, formatForecastId, getOutcomeWindow } from '../forecast-doc.ts';

export function buildForecastDoc(stored: DayDoc, horizonDays: number, saltSecret: string): ForecastDoc {
  const _id = formatForecastId(stored.day, horizonDays);
  const values: CommittedValues | null = stored.forecasts[horizonDays] ?? null;
  const { opensAtMs, resolvesAtMs } = getOutcomeWindow(stored.day, horizonDays);
  return {
    _id,
    day: stored.day,
    horizonDays,
    sequence: stored.sequence,
    state: 'DRAFT',
    replayed: stored.replayed,
    late: stored.late,
    missed: stored.missedBecause !== null,
    signalAt: stored.signalAt,
    windowOpensAt: new Date(opensAtMs),
    resolvesAt: new Date(resolvesAtMs),
    modelVersion: stored.modelVersion,
    regime: stored.regime,
    values,
    commitment: computeForecastCommitment(saltSecret, _id, values),
    inputsDigest: stored.inputsDigest,
    metadataDigest: stored.metadata.digest,
    cid: stored.metadata.cid,
    previousUid: null,
    attestation: null,
    btcAtSignalCents: null,
    resolution: null,
    reveal: null,
    ...(values === null ? {} : { outbox: [createOutboxEntry('made', stored.signalAt)] }),
  };
}
