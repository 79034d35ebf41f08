import type { Hex } from 'viem';
import type { ConfirmedAttestation } from '../../chain/eas/attester.ts';
import { HORIZONS } from '../../forecast/model.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import type { ForecastRecord } from '../forecast-record.ts';

export type AttestationType = 'prediction' | 'resolution';

export interface AttestationMatch {
  doc: ForecastDoc;
  type: AttestationType;
}

export async function findAttestation(record: ForecastRecord, uid: Hex): Promise<AttestationMatch | null> {
  const doc = await record.forecasts.findOne({ $or: [{ 'attestation.uid': uid }, { 'reveal.uid': uid }] });
  if (doc === null) return null;
  return { doc, type: doc.attestation?.uid === uid ? 'prediction' : 'resolution' };
}

export async function computeAttestationStats(record: ForecastRecord, horizons: readonly number[] = HORIZONS) {
  const docs = await record.forecasts
    .find({ horizonDays: { $in: [...horizons] }, attestation: { $ne: null } }, { projection: { attestation: 1, reveal: 1 } })
    .sort({ 'attestation.at': 1 })
    .toArray();
  const predictions = docs.map((doc) => doc.attestation as ConfirmedAttestation);
  const resolutions = docs.flatMap((doc) => (doc.reveal === null ? [] : [doc.reveal]));
  const times = [...predictions, ...resolutions].map((reference) => reference.at.getTime());
  return {
    predictions: predictions.length,
    resolutions: resolutions.length,
    firstAttestation: times.length === 0 ? null : new Date(Math.min(...times)).toISOString(),
    latestAttestation: times.length === 0 ? null : new Date(Math.max(...times)).toISOString(),
    totalGasWei: sumCostWei([...predictions, ...resolutions]),
  };
}

/** Cost in wei: gas, and the data fee of a rollup. A transaction that carries several attestations counts once. */
export function sumCostWei(references: ConfirmedAttestation[]): bigint {
  const byTransaction = new Map(references.map((reference) => [reference.txHash, reference]));
  return [...byTransaction.values()].reduce(
    (sum, { gasUsed, effectiveGasPriceWei, l1FeeWei = '0' }) => sum + BigInt(gasUsed) * BigInt(effectiveGasPriceWei) + BigInt(l1FeeWei),
    0n,
  );
}
