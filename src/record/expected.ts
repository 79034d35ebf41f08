import { zeroHash } from 'viem';
import type { Reference } from '../chain/attester.ts';
import type { PredictionData, ResolutionData } from '../chain/schemas.ts';
import { OracleError } from '../errors.ts';
import { openingOf } from './commit.ts';
import type { ForecastDoc } from './forecast.ts';

/** What the prediction attestation of a forecast says: what is sent, and what a check expects to find. */
export function expectedPrediction(doc: ForecastDoc): PredictionData & Reference {
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

/**
 * What the resolution attestation of a decided forecast says.
 * @throws OracleError INTERNAL for a forecast that is not attested or not decided.
 */
export function expectedResolution(doc: ForecastDoc, saltSecret: string): ResolutionData & Reference {
  const { _id, values, attestation, resolution } = doc;
  if (values === null || attestation === null || resolution === null) throw new OracleError('INTERNAL', `Forecast ${_id} is not decided`);
  const { btcAtSignalCents, btcAtResolutionCents, returnBps, outcome } = resolution;
  return {
    refUid: attestation.uid,
    ...openingOf(saltSecret, _id, values),
    btcAtSignalCents,
    btcAtResolutionCents,
    returnBps,
    outcome,
  };
}
