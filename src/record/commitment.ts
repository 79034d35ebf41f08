import { zeroHash } from 'viem';
import { type AttestationReference, deriveSalt } from '../chain/eas/eas.ts';
import type { CommitmentOpening, PredictionData, ResolutionData } from '../chain/eas/schemas.ts';
import { OracleError } from '../errors.ts';
import type { CommittedValues, ForecastDoc } from './forecast-doc.ts';

/** Opening of a commitment. The salt is derived from the master secret, so that it survives the loss of the database. */
export function buildOpening(saltSecret: string, id: string, values: CommittedValues): CommitmentOpening {
  const { signal, direction, confidenceBps, pUpBps, btcPriceCents } = values;
  return { salt: deriveSalt(saltSecret, id), signal, direction, confidenceBps, pUpBps, btcPriceCents };
}

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
