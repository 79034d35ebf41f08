import type { Hex } from 'viem';
import type { AttestationReader } from '../../chain/eas/attestation-reader.ts';
import { formatDay } from '../../forecast/day.ts';
import { OracleError } from '../../platform/errors.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import { type AttestationMatch, findAttestation } from './find-attestation.ts';

export interface AttestationLookupDeps {
  record: ForecastRecord;
  attestations: AttestationReader;
  chainId: number;
}

/** A forecast by attestation uid, or by id (`YYYY-MM-DD:<h>d`) with the name of the input field for errors. */
export type PredictionReference = { uid: Hex } | { predictionId: string; field: string };

/** @throws OracleError NOT_FOUND */
export async function findForecast(deps: AttestationLookupDeps, reference: PredictionReference): Promise<ForecastDoc> {
  if ('uid' in reference) return (await findByAttestation(deps, reference.uid)).doc;
  const { predictionId, field } = reference;
  const [doc] = await deps.record.listByIds([predictionId]);
  if (doc !== undefined) return doc;
  const [first, last] = [await deps.record.findGenesisDay(), await deps.record.findLastDay()];
  const range = first === null || last === null ? 'has no day yet' : `runs from ${formatDay(first)} to ${formatDay(last)}`;
  const suggestedAction = `The record ${range}: name a day in it, or take an id or uid from the track record.`;
  throw new OracleError('NOT_FOUND', `There is no forecast ${predictionId}`, { field, suggestedAction });
}

/**
 * The forecast of an attestation. Of a foreign one, the error names attester and schema, but does not repeat its data: a client must not
 * take it for an attestation of this service.
 * @throws OracleError NOT_FOUND for a uid that is not on chain or not in the record
 */
export async function findByAttestation({ record, attestations, chainId }: AttestationLookupDeps, uid: Hex): Promise<AttestationMatch> {
  const known = await findAttestation(record, uid);
  if (known !== null) return known;
  const onChain = await attestations.read(uid);
  if (onChain === null) throw missingAttestationError(uid, chainId);
  const { attester, schemaUid, schemaName } = onChain;
  const message = `The attestation ${uid} on chain ${chainId} is not of this service: attester ${attester}, schema ${schemaUid}`;
  const suggestedAction = 'Take a uid from the history of attestations, or read this one in an EAS explorer of that chain.';
  const details = { ofThisService: false, attester, schemaUid, schemaName };
  throw new OracleError('NOT_FOUND', message, { field: 'uid', details, suggestedAction });
}

export function missingAttestationError(uid: Hex, chainId: number): OracleError {
  const suggestedAction = 'Take a uid from the track record or from the history of attestations.';
  return new OracleError('NOT_FOUND', `There is no attestation ${uid} on chain ${chainId}`, { field: 'uid', suggestedAction });
}
