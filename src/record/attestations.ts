import type { Hex } from 'viem';
import { type ConfirmedAttestation, deriveSalt } from '../chain/eas/eas.ts';
import type { Context } from '../context.ts';
import { OracleError } from '../errors.ts';
import type { Day } from '../forecast/day.ts';
import { HORIZONS } from '../forecast/model.ts';
import { summarizeAttestations } from './figures.ts';
import type { ForecastDoc } from './forecast-doc.ts';
import type { ForecastRecord } from './forecasts.ts';
import { countBelow, type RecordProjection } from './projection.ts';
import type { LatestAttestation } from './schemas/verification.ts';
import { type AttestationViewOptions, mayRead, viewForecast } from './visibility.ts';

/** A forecast by attestation uid, or by id (`YYYY-MM-DD:<h>d`) with the name of the input field for errors. */
export type PredictionReference = { uid: Hex } | { predictionId: string; field: string };

export type AttestationType = 'prediction' | 'resolution';

export interface AttestationMatch {
  doc: ForecastDoc;
  type: AttestationType;
}

export function findAttestation({ known }: Pick<ForecastRecord, 'known'>, uid: string): AttestationMatch | null {
  const found = known.findByUid(uid);
  return found === null ? null : { doc: found, type: found.attestation?.uid === uid ? 'prediction' : 'resolution' };
}

const ATTESTATION_TYPES: readonly AttestationType[] = ['prediction', 'resolution'];

export const FIELD_BY_TYPE = { prediction: 'attestation', resolution: 'reveal' } as const;

/** Newest first by block time, forecast id, then resolution before prediction: a total order. @throws OracleError INPUT_INVALID */
export async function listAttestations(
  { record, figures }: Context,
  { horizons, limit, before }: { horizons: readonly number[]; limit: number; before: Hex | null },
  options: AttestationViewOptions,
) {
  const after = before === null ? null : findAttestation(record, before);
  if (before !== null && after === null) {
    const suggestedAction = 'Send nextCursor of the previous page, or omit "before" for the newest attestations.';
    const problem = 'query parameter "before": is no attestation of this record';
    throw new OracleError('INPUT_INVALID', problem, { field: 'before', suggestedAction });
  }
  const { predictions, resolutions } = summarizeAttestations(await figures.getAttestations(), horizons);
  const newest = takeNewest(record, { horizons, after, limit: limit + 1 });
  const page = newest.slice(0, limit);
  const last = page.at(-1);
  return {
    attestations: page.map(({ doc, type }) => viewAttestation(doc, type, options)),
    total: predictions + resolutions,
    nextBefore: newest.length > limit && last !== undefined ? (last.doc[FIELD_BY_TYPE[last.type]]?.uid ?? null) : null,
  };
}

/** The newest ones in the same order, without their number. */
export function listNewestAttestations(
  record: ForecastRecord,
  wanted: { horizons: readonly number[]; limit: number },
  options: AttestationViewOptions,
): AttestationView[] {
  return takeNewest(record, { ...wanted, after: null }).map(({ doc, type }) => viewAttestation(doc, type, options));
}

interface Range {
  horizons: readonly number[];
  types?: readonly AttestationType[];
  after: AttestationMatch | null;
  limit: number;
}

function takeNewest({ known }: ForecastRecord, { horizons, types = ATTESTATION_TYPES, after, limit }: Range): AttestationMatch[] {
  const lists = horizons.flatMap((horizonDays) => types.map((type) => listSorted(known, horizonDays, type)));
  const next = lists.map((list) => {
    const first = after === null ? 0 : countBelow(list, (one) => compareNewestFirst(one, after) <= 0);
    return list.slice(first, first + limit);
  });
  return next.flat().sort(compareNewestFirst).slice(0, limit);
}

const sorted = new WeakMap<RecordProjection, { revision: number; lists: Map<string, AttestationMatch[]> }>();

/** Newest first; once per change of the record. */
function listSorted(known: RecordProjection, horizonDays: number, type: AttestationType): AttestationMatch[] {
  const revision = known.revisions.forecasts;
  const of = sorted.get(known)?.revision === revision ? sorted.get(known)! : { revision, lists: new Map<string, AttestationMatch[]>() };
  sorted.set(known, of);
  const key = `${horizonDays} ${type}`;
  const list = of.lists.get(key) ?? listMatches(known, horizonDays, type);
  of.lists.set(key, list);
  return list;
}

function listMatches(known: RecordProjection, horizonDays: number, type: AttestationType): AttestationMatch[] {
  const docs = known.listByHorizon(horizonDays).filter((doc) => doc[FIELD_BY_TYPE[type]] !== null);
  return docs.map((doc) => ({ doc, type })).sort(compareNewestFirst);
}

function getAttestedAt({ doc, type }: AttestationMatch): Date {
  return doc[FIELD_BY_TYPE[type]]!.at;
}

function compareNewestFirst(a: AttestationMatch, b: AttestationMatch): number {
  const byTime = getAttestedAt(b).getTime() - getAttestedAt(a).getTime();
  if (byTime !== 0) return byTime;
  if (a.doc._id !== b.doc._id) return a.doc._id < b.doc._id ? 1 : -1;
  if (a.type === b.type) return 0;
  return a.type === 'resolution' ? -1 : 1;
}

/** The newest day whose forecasts are attested; null before the first. All horizons of a day are attested in one transaction. */
export function findLatestAttestedDay(record: ForecastRecord): Day | null {
  return takeNewest(record, { horizons: [HORIZONS[0]], types: ['prediction'], after: null, limit: 1 })[0]?.doc.day ?? null;
}

/** The newest prediction attestation, the longest horizon of its block; null before the first. */
export function findLatestAttestation(record: ForecastRecord, horizons: readonly number[], options: AttestationViewOptions) {
  const [newest] = takeNewest(record, { horizons, types: ['prediction'], after: null, limit: 1 });
  return newest === undefined ? null : viewAttestation(newest.doc, newest.type, options);
}

export type AttestationView = LatestAttestation['data'];

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
