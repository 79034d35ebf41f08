import { zeroHash } from 'viem';
import type { PredictionData, ResolutionData } from '../../chain/eas/attestation-schemas.ts';
import type { AttestationReference } from '../../chain/eas/attester.ts';
import { OracleError } from '../../platform/errors.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import { buildOpening } from './commitment.ts';

export function buildExpectedPrediction(doc: ForecastDoc): PredictionData & AttestationReference {
  const { sequence, day, horizonDays, windowOpensAt, resolvesAt, commitment, inputsDigest, metadataDigest } = doc;
  return {
    refUid: doc.previousUid ?? zeroHash,
    sequence,
    day,
    horizonDays,
    windowOpensAt,
    resolvesAt,
    commitment,
    inputsDigest,
    metadata: metadataDigest,
  };
}

/** Content of a resolution attestation. @throws OracleError INTERNAL for a forecast that is not attested or not decided */
export function buildExpectedResolution(doc: ForecastDoc, saltSecret: string): ResolutionData & AttestationReference {
  const { _id, values, attestation, resolution } = doc;
  if (values === null || attestation === null || resolution === null) throw new OracleError('INTERNAL', `Forecast ${_id} is not decided`);
  const { btcAtSignalCents, btcAtResolutionCents, returnBps, outcome } = resolution;
  return {
    refUid: attestation.uid,
    ...buildOpening(saltSecret, _id, values),
    btcAtSignalCents,
    btcAtResolutionCents,
    returnBps,
    outcome,
  };
}
