import { type Hex, zeroHash } from 'viem';
import { type AttestationReference, deriveSalt } from '../chain/eas/eas.ts';
import { type CommitmentOpening, computeCommitment, type PredictionData, type ResolutionData } from '../chain/eas/schemas.ts';
import { OracleError } from '../errors.ts';
import { createOutboxEntry } from '../platform/mongo.ts';
import { type CommittedValues, type DayDoc, type ForecastDoc, formatForecastId, getOutcomeWindow } from './forecast-doc.ts';

/** Opening of a commitment. The salt is derived from the master secret, so that it survives the loss of the database. */
export function buildOpening(saltSecret: string, id: string, values: CommittedValues): CommitmentOpening {
  const { signal, direction, confidenceBps, pUpBps, btcPriceCents } = values;
  return { salt: deriveSalt(saltSecret, id), signal, direction, confidenceBps, pUpBps, btcPriceCents };
}

export function computeForecastCommitment(saltSecret: string, id: string, values: CommittedValues | null): Hex {
  return values === null ? zeroHash : computeCommitment(buildOpening(saltSecret, id, values));
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
