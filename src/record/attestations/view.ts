import type { Hex } from 'viem';
import type { ConfirmedAttestation } from '../../chain/eas/attester.ts';
import { findOpening } from '../commitment/commitment.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import { mayRead, type ViewOptions, viewForecast } from '../forecast-visibility.ts';
import type { LatestAttestation } from '../schemas/attestations.ts';

export type AttestationView = LatestAttestation['data'];

export interface AttestationViewOptions extends ViewOptions {
  saltSecret: string;
}

export function viewAttestation(doc: ForecastDoc, type: 'prediction' | 'resolution', options: AttestationViewOptions): AttestationView {
  const { result, ...forecast } = viewForecast(doc, options);
  const own = (type === 'prediction' ? doc.attestation : doc.reveal) as ConfirmedAttestation;
  return {
    ...forecast,
    uid: own.uid,
    type,
    txHash: own.txHash,
    blockNumber: own.blockNumber,
    attestedAt: own.at.toISOString(),
    cid: doc.cid,
    commitment: doc.commitment,
    inputsDigest: doc.inputsDigest,
    salt: viewSalt(doc, options),
    outcome: result,
    resolutionPrice: forecast.btcAtResolution,
    refUid: type === 'resolution' ? (doc.attestation?.uid ?? null) : doc.previousUid,
    resolutionUid: doc.reveal?.uid ?? null,
  };
}

export function viewSalt(doc: ForecastDoc, options: AttestationViewOptions): Hex | null {
  return mayRead(doc, options) ? (findOpening(options.saltSecret, doc)?.salt ?? null) : null;
}
