import type { Hex } from 'viem';
import type { Attested } from '../chain/attester.ts';
import { type AttestationView, type AttestationViewOptions, viewAttestation } from './attestation-views.ts';
import type { ForecastDoc } from './forecast.ts';
import type { ForecastRecord } from './record.ts';

export type AttestationType = 'prediction' | 'resolution';

/** A forecast, and which of its attestations was asked for. */
export interface Found {
  doc: ForecastDoc;
  type: AttestationType;
}

export interface AttestationPage {
  /** Newest first. */
  attestations: AttestationView[];
  /** How many there are in all. */
  total: number;
}

export interface AttestationStats {
  predictions: number;
  resolutions: number;
  firstAttestation: string | null;
  latestAttestation: string | null;
  /** What all attestations cost together, in wei: gas, and the data fee of a rollup. */
  totalGasWei: bigint;
}

/** Prediction and resolution attestations of all horizons, newest first. */
export async function listAttestations(record: ForecastRecord, limit: number, options: AttestationViewOptions): Promise<AttestationPage> {
  const newest = { limit };
  const [predicted, revealed, predictions, resolutions] = await Promise.all([
    record.forecasts
      .find({ attestation: { $ne: null } }, newest)
      .sort({ 'attestation.at': -1, horizonDays: -1 })
      .toArray(),
    record.forecasts
      .find({ reveal: { $ne: null } }, newest)
      .sort({ 'reveal.at': -1, horizonDays: -1 })
      .toArray(),
    record.forecasts.countDocuments({ attestation: { $ne: null } }),
    record.forecasts.countDocuments({ reveal: { $ne: null } }),
  ]);
  const views = [
    ...predicted.map((doc) => viewAttestation(doc, 'prediction', options)),
    ...revealed.map((doc) => viewAttestation(doc, 'resolution', options)),
  ].sort((a, b) => (a.attestedAt === b.attestedAt ? 0 : a.attestedAt < b.attestedAt ? 1 : -1));
  return { attestations: views.slice(0, limit), total: predictions + resolutions };
}

/** The newest prediction attestation of a horizon, or null before the first. */
export async function latestAttestation(
  record: ForecastRecord,
  horizonDays: number,
  options: AttestationViewOptions,
): Promise<AttestationView | null> {
  const doc = await record.forecasts.findOne({ horizonDays, attestation: { $ne: null } }, { sort: { sequence: -1 } });
  return doc === null ? null : viewAttestation(doc, 'prediction', options);
}

/** The forecast that a uid belongs to, and which of its attestations it is; null for a uid that is not ours. */
export async function findByUid(record: ForecastRecord, uid: Hex): Promise<Found | null> {
  const doc = await record.forecasts.findOne({ $or: [{ 'attestation.uid': uid }, { 'reveal.uid': uid }] });
  if (doc === null) return null;
  return { doc, type: doc.attestation?.uid === uid ? 'prediction' : 'resolution' };
}

/** Counts, times and cost of everything attested. */
export async function attestationStats(record: ForecastRecord): Promise<AttestationStats> {
  const docs = await record.forecasts
    .find({ attestation: { $ne: null } }, { projection: { attestation: 1, reveal: 1 } })
    .sort({ 'attestation.at': 1 })
    .toArray();
  const predictions = docs.map((doc) => doc.attestation as Attested);
  const resolutions = docs.flatMap((doc) => (doc.reveal === null ? [] : [doc.reveal]));
  const times = [...predictions, ...resolutions].map((reference) => reference.at.getTime());
  return {
    predictions: predictions.length,
    resolutions: resolutions.length,
    firstAttestation: times.length === 0 ? null : new Date(Math.min(...times)).toISOString(),
    latestAttestation: times.length === 0 ? null : new Date(Math.max(...times)).toISOString(),
    totalGasWei: totalCost([...predictions, ...resolutions]),
  };
}

/** What attestations cost together, in wei: gas, and the data fee of a rollup. One transaction carries several of them: it is counted once. */
export function totalCost(references: Attested[]): bigint {
  const byTransaction = new Map(references.map((reference) => [reference.txHash, reference]));
  return [...byTransaction.values()].reduce(
    (sum, { gasUsed, effectiveGasPriceWei, l1FeeWei = '0' }) => sum + BigInt(gasUsed) * BigInt(effectiveGasPriceWei) + BigInt(l1FeeWei),
    0n,
  );
}
