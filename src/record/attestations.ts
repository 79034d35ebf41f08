import type { Filter } from 'mongodb';
import type { Hex } from 'viem';
import { type ConfirmedAttestation, deriveSalt } from '../chain/eas/eas.ts';
import { OracleError } from '../errors.ts';
import type { Day } from '../forecast/day.ts';
import { HORIZONS } from '../forecast/model.ts';
import { type RecordFigures, summarizeAttestations } from './figures.ts';
import type { ForecastDoc } from './forecast-doc.ts';
import type { ForecastRecord } from './forecasts.ts';
import type { LatestAttestation } from './schemas/verification.ts';
import { mayRead, type ViewOptions, viewForecast } from './visibility.ts';

/** A forecast by attestation uid, or by id (`YYYY-MM-DD:<h>d`) with the name of the input field for errors. */
export type PredictionReference = { uid: Hex } | { predictionId: string; field: string };

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

const ATTESTATION_TYPES: readonly AttestationType[] = ['prediction', 'resolution'];

export const FIELD_BY_TYPE = { prediction: 'attestation', resolution: 'reveal' } as const;

/** Newest first by block time, forecast id, then resolution before prediction: a total order. @throws OracleError INPUT_INVALID */
export async function listAttestations(
  { record, statistics: { figures } }: { record: ForecastRecord; statistics: { figures: RecordFigures } },
  { horizons, limit, before }: { horizons: readonly number[]; limit: number; before: Hex | null },
  options: AttestationViewOptions,
) {
  const after = before === null ? null : await findAttestation(record, before);
  if (before !== null && after === null) {
    const suggestedAction = 'Send nextCursor of the previous page, or omit "before" for the newest attestations.';
    const problem = 'query parameter "before": is no attestation of this record';
    throw new OracleError('INPUT_INVALID', problem, { field: 'before', suggestedAction });
  }
  const wanted = { horizons, after, limit: limit + 1 };
  const [counted, newest] = await Promise.all([figures.getAttestations(), readNewest(record, wanted)]);
  const { predictions, resolutions } = summarizeAttestations(counted, horizons);
  const page = newest.slice(0, limit);
  const last = page.at(-1);
  return {
    attestations: page.map(({ doc, type }) => viewAttestation(doc, type, options)),
    total: predictions + resolutions,
    nextBefore: newest.length > limit && last !== undefined ? (last.doc[FIELD_BY_TYPE[last.type]]?.uid ?? null) : null,
  };
}

/** The newest ones in the same order, without their number. */
export async function listNewestAttestations(
  record: ForecastRecord,
  wanted: { horizons: readonly number[]; limit: number },
  options: AttestationViewOptions,
): Promise<AttestationView[]> {
  const newest = await readNewest(record, { ...wanted, after: null });
  return newest.slice(0, wanted.limit).map(({ doc, type }) => viewAttestation(doc, type, options));
}

/** At most twice `limit` of each horizon. */
async function readNewest(
  record: ForecastRecord,
  { horizons, ...range }: { horizons: readonly number[]; after: AttestationMatch | null; limit: number },
): Promise<AttestationMatch[]> {
  const lists = horizons.flatMap((horizonDays) => ATTESTATION_TYPES.map((type) => readList(record, { horizonDays, type, ...range })));
  return (await Promise.all(lists)).flat().sort(compareNewestFirst);
}

async function readList(
  { forecasts }: ForecastRecord,
  { horizonDays, type, after, limit }: { horizonDays: number; type: AttestationType; after: AttestationMatch | null; limit: number },
): Promise<AttestationMatch[]> {
  const at = `${FIELD_BY_TYPE[type]}.at`;
  // Without the hint the planner may scan the whole record.
  const docs = await forecasts
    .find(
      { horizonDays, ...buildRangeFilter(at, type, after) },
      { sort: { [at]: -1, _id: -1 }, limit, hint: { horizonDays: 1, [at]: -1, _id: -1 } },
    )
    .toArray();
  return docs.map((doc) => ({ doc, type }));
}

function buildRangeFilter(at: string, type: AttestationType, after: AttestationMatch | null): Filter<ForecastDoc> {
  // A range that an index serves, unlike `$ne: null`.
  if (after === null) return { [at]: { $gte: new Date(0) } };
  const time = getAttestedAt(after);
  const sameForecastFollows = after.type === 'resolution' && type === 'prediction';
  const earlierId = sameForecastFollows ? { $lte: after.doc._id } : { $lt: after.doc._id };
  return { [at]: { $gte: new Date(0), $lte: time }, $or: [{ [at]: { $lt: time } }, { _id: earlierId }] };
}

function getAttestedAt({ doc, type }: AttestationMatch): Date {
  return doc[FIELD_BY_TYPE[type]]!.at;
}

function compareNewestFirst(a: AttestationMatch, b: AttestationMatch): number {
  const byTime = getAttestedAt(b).getTime() - getAttestedAt(a).getTime();
  if (byTime !== 0) return byTime;
  if (a.doc._id !== b.doc._id) return a.doc._id < b.doc._id ? 1 : -1;
  return a.type === 'resolution' ? -1 : 1;
}

/** The newest day whose forecasts are attested; null before the first. All horizons of a day are attested in one transaction. */
export async function findLatestAttestedDay(record: ForecastRecord): Promise<Day | null> {
  const [newest] = await readList(record, { horizonDays: HORIZONS[0], type: 'prediction', after: null, limit: 1 });
  return newest?.doc.day ?? null;
}

/** The newest prediction attestation, the longest horizon of its block; null before the first. */
export async function findLatestAttestation(record: ForecastRecord, horizons: readonly number[], options: AttestationViewOptions) {
  const lists = horizons.map((horizonDays) => readList(record, { horizonDays, type: 'prediction', after: null, limit: 1 }));
  const [newest] = (await Promise.all(lists)).flat().sort(compareNewestFirst);
  return newest === undefined ? null : viewAttestation(newest.doc, newest.type, options);
}

export type AttestationView = LatestAttestation['data'];

export interface AttestationViewOptions extends ViewOptions {
  saltSecret: string;
}

export function viewAttestation(doc: ForecastDoc, type: AttestationType, options: AttestationViewOptions): AttestationView {
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
  return doc.values !== null && mayRead(doc, options) ? deriveSalt(options.saltSecret, doc._id) : null;
}
