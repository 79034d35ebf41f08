import type { Hex } from 'viem';
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
