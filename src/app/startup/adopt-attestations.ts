import { isDeepStrictEqual } from 'node:util';
import { type Hex, isAddressEqual } from 'viem';
import { type AttestationLog, createAttestationReader, type OnChainAttestation } from '../../chain/eas/attestation-reader.ts';
import { decodePrediction, decodeResolution } from '../../chain/eas/attestation-schemas.ts';
import type { JournalRow } from '../../chain/tx/journal.ts';
import { formatDay } from '../../forecast/day.ts';
import { buildExpectedPrediction, buildExpectedResolution } from '../../record/commitment/expected-attestation.ts';
import type { ForecastDoc, Resolution } from '../../record/forecast-doc.ts';
import type { ForecastRecord } from '../../record/forecast-record.ts';
import { buildResolution, formatBatchKey } from '../../record/lifecycle/build-resolution.ts';
import { buildAdoptedRow, readTransaction } from './adopted-transaction.ts';
import type { AttestationCheckDeps, ForeignAttestations } from './known-attestations.ts';

export interface AdoptionDeps extends Pick<AttestationCheckDeps, 'chain' | 'journal' | 'attester'> {
  record: ForecastRecord;
  saltSecret: string;
}

/** Attestations of one transaction, in its order; none where the endpoint lacks one. */
interface Batch {
  txHash: Hex;
  attestations: OnChainAttestation[];
}

interface Adoption {
  row: JournalRow;
  decisions: Map<string, Resolution>;
}

/**
 * Reads back what a later state of this database had attested: commitments and outcomes of forecasts that it has, which the chain repeats in full.
 * The transactions go into the journal under the keys that their steps use, and the decisions into the forecasts, first: the steps then find both
 * and complete them as after a crash, with scores and events. False, with nothing written, unless every attestation is exactly what this record
 * would have attested. A commitment of a forecast that the database does not have cannot be: its values are not on chain before its outcome, and
 * most of them never.
 */
export async function adoptAttestations(deps: AdoptionDeps, found: ForeignAttestations): Promise<boolean> {
  const predictions = await readBatches(deps, found.predictions);
  const resolutions = await readBatches(deps, found.resolutions);
  const byUid = new Map<Hex, ForecastDoc>();
  const adoptions: (Adoption | null)[] = [];
  for (const batch of predictions) adoptions.push(await adoptPredictions(deps, batch, byUid));
  for (const batch of resolutions) adoptions.push(await adoptResolutions(deps, batch, byUid));
  const complete = adoptions.filter((adoption) => adoption !== null);
  if (complete.length < adoptions.length) return false;
  for (const { decisions } of complete) await deps.record.adoptResolutions(decisions);
  for (const { row } of complete) await deps.journal.insert(row);
  return true;
}

async function readBatches({ chain }: AdoptionDeps, logs: readonly AttestationLog[]): Promise<Batch[]> {
  const reader = createAttestationReader(chain);
  const batches: Batch[] = [];
  for (const [txHash, members] of Map.groupBy(logs, (log) => log.txHash)) {
    const read = await Promise.all(members.map(({ uid }) => reader.read(uid)));
    const attestations = read.filter((attestation) => attestation !== null);
    batches.push({ txHash, attestations: attestations.length < read.length ? [] : attestations });
  }
  return batches;
}

async function adoptPredictions(
  deps: AdoptionDeps,
  { txHash, attestations }: Batch,
  byUid: Map<Hex, ForecastDoc>,
): Promise<Adoption | null> {
  if (attestations.length === 0) return null;
  const contents = attestations.map(({ data }) => decodePrediction(data));
  const day = contents[0]!.day;
  const docs = await deps.record.listByDay(day);
  const isOwn = docs.every((doc, index) => {
    const { refUid: _, ...expected } = buildExpectedPrediction(doc);
    return isDeepStrictEqual(contents[index], expected) && (doc.attestation?.uid ?? attestations[index]!.uid) === attestations[index]!.uid;
  });
  if (docs.length !== contents.length || !isOwn) return null;
  for (const [index, { uid }] of attestations.entries()) byUid.set(uid, docs[index]!);
  return buildAdoption(deps, txHash, `attest:${formatDay(day)}`);
}

async function adoptResolutions(deps: AdoptionDeps, batch: Batch, byUid: ReadonlyMap<Hex, ForecastDoc>): Promise<Adoption | null> {
  const docs = await findResolved(deps, batch, byUid);
  if (docs === null) return null;
  const key = docs[0]!.resolution?.batch ?? formatBatchKey(docs.toSorted((a, b) => a.horizonDays - b.horizonDays));
  const decisions = new Map<string, Resolution>();
  for (const [index, doc] of docs.entries()) {
    const { refUid, at, data } = batch.attestations[index]!;
    const content = decodeResolution(data);
    const { btcAtSignalCents, btcAtResolutionCents } = content;
    // The venues of the quorum are not on chain.
    const facts = { btcAtSignalCents, btcAtResolutionCents, venues: [], deviationBps: 0, decidedAt: at, batch: key };
    const resolution = doc.resolution ?? buildResolution(doc, facts);
    const attested = { ...doc, attestation: { uid: refUid } as ForecastDoc['attestation'], resolution };
    if (resolution.batch !== key || !isDeepStrictEqual({ refUid, ...content }, buildExpectedResolution(attested, deps.saltSecret)))
      return null;
    decisions.set(doc._id, resolution);
  }
  return buildAdoption(deps, batch.txHash, key, decisions);
}

/** The forecasts that a batch resolves; null unless all are known, end together, and stand in the order that the resolve step writes. */
async function findResolved(
  { record }: AdoptionDeps,
  { attestations }: Batch,
  byUid: ReadonlyMap<Hex, ForecastDoc>,
): Promise<ForecastDoc[] | null> {
  const uids = attestations.map(({ refUid }) => refUid);
  const attested = await record.forecasts.find({ 'attestation.uid': { $in: uids } }).toArray();
  const known = new Map([...byUid, ...attested.map((doc) => [doc.attestation!.uid, doc] as const)]);
  const docs = uids.map((uid) => known.get(uid));
  const isBatch = docs.every(
    (doc, index) =>
      doc !== undefined &&
      doc.values !== null &&
      doc.resolvesAt.getTime() === docs[0]!.resolvesAt.getTime() &&
      (index === 0 || docs[index - 1]!._id < doc._id),
  );
  return isBatch && docs.length > 0 ? (docs as ForecastDoc[]) : null;
}

/** Null for a transaction that this service does not send, or whose key or nonce another one has. */
async function buildAdoption(
  { chain, journal, attester }: AdoptionDeps,
  txHash: Hex,
  key: string,
  decisions = new Map<string, Resolution>(),
): Promise<Adoption | null> {
  const transaction = await readTransaction(chain, txHash);
  const row = buildAdoptedRow(transaction, { role: 'attester', key, now: new Date() });
  if (row === null || !isAddressEqual(row.address, attester) || !isAddressEqual(row.to, chain.addresses.eas)) return null;
  const taken = [await journal.find(row._id), await journal.findByNonce(chain.chainId, attester, row.nonce)];
  // Signed before the backup and replaced after it: the wallet finds the replacement by its call.
  const isKnown = taken.every((other) => other === null || (other._id === row._id && other.nonce === row.nonce));
  return isKnown ? { row, decisions } : null;
}
