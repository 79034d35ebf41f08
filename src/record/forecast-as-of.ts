import type { ForecastDoc } from './forecast-doc.ts';

/** A forecast as of an instant: later attestations are removed. */
export function forecastAsOf(doc: ForecastDoc, at: Date): ForecastDoc {
  if (doc.attestation === null || doc.attestation.at > at) {
    return { ...doc, state: 'DRAFT', attestation: null, resolution: null, reveal: null };
  }
  if (doc.reveal === null) return doc.resolution === null ? doc : { ...doc, resolution: null };
  return doc.reveal.at > at ? { ...doc, state: 'PENDING', resolution: null, reveal: null } : doc;
}
