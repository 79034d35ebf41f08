import type { Filter } from 'mongodb';
import type { Hex } from 'viem';
import type { Day } from '../../forecast/day.ts';
import { HORIZONS } from '../../forecast/model.ts';
import { OracleError } from '../../platform/errors.ts';
import type { RecordFigures } from '../figures/record-figures.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import { summarizeAttestations } from './attestation-figures.ts';
import { type AttestationMatch, type AttestationType, findAttestation } from './find-attestation.ts';
import { type AttestationView, type AttestationViewOptions, viewAttestation } from './view.ts';

interface AttestationListDeps {
  record: ForecastRecord;
  statistics: { figures: RecordFigures };
}

const ATTESTATION_TYPES: readonly AttestationType[] = ['prediction', 'resolution'];

const FIELD_BY_TYPE = { prediction: 'attestation', resolution: 'reveal' } as const;

/** A range that an index serves, unlike `$ne: null`. */
const ON_CHAIN_FILTER = { $gte: new Date(0) };

/** Newest first by block time, forecast id, then resolution before prediction: a total order. @throws OracleError INPUT_INVALID */
export async function listAttestations(
  { record, statistics: { figures } }: AttestationListDeps,
  { horizons, limit, before }: { horizons: readonly number[]; limit: number; before: Hex | null },
  options: AttestationViewOptions,
) {
  const after = before === null ? null : await findPosition(record, before);
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

async function findPosition(record: ForecastRecord, before: Hex): Promise<AttestationMatch> {
  const position = await findAttestation(record, before);
  if (position !== null) return position;
  const suggestedAction = 'Send nextCursor of the previous page, or omit "before" for the newest attestations.';
  const problem = 'query parameter "before": is no attestation of this record';
  throw new OracleError('INPUT_INVALID', problem, { field: 'before', suggestedAction });
}

async function readList(
  { forecasts }: ForecastRecord,
  { horizonDays, type, after, limit }: { horizonDays: number; type: AttestationType; after: AttestationMatch | null; limit: number },
): Promise<AttestationMatch[]> {
  const at = `${FIELD_BY_TYPE[type]}.at`;
  const docs = await forecasts
    .find({ horizonDays, ...buildRangeFilter(at, type, after) }, { limit, hint: buildIndexHint(at) })
    .sort({ [at]: -1, _id: -1 })
    .toArray();
  return docs.map((doc) => ({ doc, type }));
}

/** Index hint: without it the planner may scan the whole record. */
function buildIndexHint(at: string) {
  return { horizonDays: 1, [at]: -1, _id: -1 } as const;
}

function buildRangeFilter(at: string, type: AttestationType, after: AttestationMatch | null): Filter<ForecastDoc> {
  if (after === null) return { [at]: ON_CHAIN_FILTER };
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
