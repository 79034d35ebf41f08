import type { Address, Hex } from 'viem';
import { type AuditChain, readAttestation, readBlockTime, readInBatches } from '../../../audit/chain/audit-chain.ts';
import { type Attestation, isPlausible, type Prediction, type Revelation, validateAttestation } from '../../../audit/chain/chain-record.ts';
import { findAttestations, readNewestBlock } from '../../../audit/chain/find-attestations.ts';
import { createFindings, type Findings, NO_SUBJECT } from '../../../audit/checks/findings.ts';
import type { AttestationLog } from '../../../chain/eas/attestation-reader.ts';
import { decodePrediction, decodeResolution, getSchemaUid, type PredictionData, type SchemaName } from '../../../chain/eas/schemas.ts';
import { findFirstBlockSince } from '../../../chain/rpc/block-by-time.ts';
import { toInstantMs } from '../../../forecast/day.ts';
import type { ForecastQuery } from './forecast-query.ts';

export interface ForecastSearch {
  chain: AuditChain;
  attester: Address;
  findings: Findings;
  onProgress(stage: string, done: number, total: number): void;
}

/** How far before and behind its day a forecast is looked for. */
const DAYS_AROUND = 3;
/** Blocks of one stretch in which a resolution is looked for: a real chain makes as many in two days. */
const BLOCKS_PER_STRETCH = 90_000;
const MAX_STRETCHES = 3;
/** Equal times of blocks may follow each other on a chain whose clock is set. */
const BLOCKS_OF_ONE_TIME = 16;
/** Tells one attestation after another what it says; in between nobody counts. */
const NO_PROGRESS = () => {};

/** The prediction that was asked for, as the chain has it; null where it has none. @throws OracleError CHAIN_UNREACHABLE */
export async function locatePrediction(
  search: ForecastSearch,
  query: Exclude<ForecastQuery, { newestOf: number }>,
): Promise<Prediction | null> {
  if ('uid' in query) return readByAnyUid(search, query.uid);
  const [first] = await findCommitments(search, query);
  return first === undefined ? null : readPrediction(search, first.uid);
}

/**
 * Everything that was committed for a day and horizon around that day, in the order of the chain: those that came in time, or else the late
 * ones. More than one is a choice that was left open.
 */
export async function findCommitments(
  search: ForecastSearch,
  { day, horizonDays }: Pick<PredictionData, 'day' | 'horizonDays'>,
): Promise<Prediction[]> {
  // What is wrong with others of that time is nothing against this one.
  const aside = { ...search, findings: createFindings() };
  const of = (all: Prediction[]) => all.filter(({ data }) => data.day === day && data.horizonDays === horizonDays);
  const inTime = of(await readPredictionsBetween(aside, toInstantMs(day - DAYS_AROUND), toInstantMs(day + 1)));
  return inTime.length > 0 ? inTime : of(await readPredictionsBetween(aside, toInstantMs(day + 1), toInstantMs(day + DAYS_AROUND)));
}

async function readByAnyUid(search: ForecastSearch, uid: Hex): Promise<Prediction | null> {
  const raw = await readAttestation(search.chain, uid);
  if (raw.uid !== uid) return null;
  return readPrediction(search, raw.schema === getSchemaUid('resolution') ? raw.refUID : uid);
}

/** What the attester has committed within a time, in the order of the chain; what cannot be read is not asked for. */
export async function readPredictionsBetween(search: ForecastSearch, fromMs: number, toMs: number): Promise<Prediction[]> {
  const { chain } = search;
  const found = await findEventsBetween(search, 'prediction', fromMs, toMs);
  const raw = await readInBatches(found, { parallel: chain.parallel, read: ({ uid }) => readAttestation(chain, uid), onRead: NO_PROGRESS });
  const times = await readInBatches(found, {
    ...{ parallel: chain.parallel, onRead: NO_PROGRESS },
    read: ({ blockNumber }) => readBlockTime(chain, blockNumber),
  });
  return raw.flatMap((one, index) => {
    const expected = { uid: found[index].uid, schema: 'prediction', attester: search.attester, at: times[index] } as const;
    const prediction = validateAttestation(one, { ...expected, decode: decodePrediction }, search.findings);
    return prediction === null || !isPlausible(prediction, search.findings) ? [] : [prediction];
  });
}

/** What the attester has attested of a schema within a time. */
export async function findEventsBetween(
  search: ForecastSearch,
  schema: SchemaName,
  fromMs: number,
  toMs: number,
): Promise<AttestationLog[]> {
  const fromBlock = Number(await findFirstBlockSince(search.chain, new Date(fromMs)));
  const throughBlock = Number(await findFirstBlockSince(search.chain, new Date(toMs)));
  return findInRange(search, schema, { fromBlock, throughBlock });
}

/** One prediction by its uid, at the time of the block that holds its event. */
export async function readPrediction(search: ForecastSearch, uid: Hex): Promise<Prediction | null> {
  const prediction = await readByUid(search, { uid, schema: 'prediction', decode: decodePrediction });
  return prediction === null || !isPlausible(prediction, search.findings) ? null : prediction;
}

async function readByUid<Data>(
  search: ForecastSearch,
  { uid, schema, decode }: { uid: Hex; schema: SchemaName; decode(data: Hex): Data },
): Promise<Attestation<Data> | null> {
  const { chain, attester, findings } = search;
  const raw = await readAttestation(chain, uid);
  if (raw.uid !== uid) return null;
  const block = await findBlock(search, schema, { uid, time: Number(raw.time) });
  if (block === null) {
    const because = `no event of this attester's ${schema} stands in the block of the time that the contract tells`;
    findings.addDifference('form', { ...NO_SUBJECT, uid }, { field: 'event', expected: uid, found: null, because });
    return null;
  }
  return validateAttestation(raw, { uid, schema, attester, at: await readBlockTime(chain, block), decode }, findings);
}

/** The block whose event tells of an attestation: the contract's word for its time is looked up, and not believed. */
async function findBlock(search: ForecastSearch, schema: SchemaName, { uid, time }: { uid: Hex; time: number }): Promise<number | null> {
  const fromBlock = Number(await findFirstBlockSince(search.chain, new Date(time * 1_000)));
  const found = await findInRange(search, schema, { fromBlock, throughBlock: fromBlock + BLOCKS_OF_ONE_TIME });
  return found.find((one) => one.uid === uid)?.blockNumber ?? null;
}

async function findInRange({ chain, attester }: ForecastSearch, schema: SchemaName, range: { fromBlock: number; throughBlock: number }) {
  const head = await readNewestBlock(chain);
  const throughBlock = Math.min(head, range.throughBlock);
  return findAttestations(chain, schema, { attester, fromBlock: range.fromBlock, throughBlock, onProgress: NO_PROGRESS });
}

interface FoundRevelations {
  revelations: Revelation[];
  /** Last block that was looked at, and the newest one. */
  throughBlock: number;
  head: number;
}

/** Resolutions of a prediction from the end of its window on: all up to the newest block where the chain is short. @throws OracleError CHAIN_UNREACHABLE */
export async function locateRevelations(search: ForecastSearch, { uid, data }: Prediction): Promise<FoundRevelations> {
  const { chain, onProgress } = search;
  const head = await readNewestBlock(chain);
  let from = Number(await findFirstBlockSince(chain, data.resolvesAt));
  let revelations: Revelation[] = [];
  let throughBlock = from;
  for (let stretch = 0; stretch < MAX_STRETCHES && from <= head && revelations.length === 0; stretch++) {
    throughBlock = Math.min(head, from + BLOCKS_PER_STRETCH - 1);
    onProgress('looking for the resolution', stretch, MAX_STRETCHES);
    const found = await findInRange(search, 'resolution', { fromBlock: from, throughBlock });
    const raw = await readInBatches(found, {
      parallel: chain.parallel,
      read: (one) => readAttestation(chain, one.uid),
      onRead: NO_PROGRESS,
    });
    const ours = found.filter((_, index) => raw[index].refUID === uid);
    revelations = [];
    for (const one of ours) revelations.push(...(await readRevelation(search, one.uid)));
    from = throughBlock + 1;
  }
  return { revelations, throughBlock, head };
}

async function readRevelation(search: ForecastSearch, uid: Hex): Promise<Revelation[]> {
  const revelation = await readByUid(search, { uid, schema: 'resolution', decode: decodeResolution });
  return revelation === null ? [] : [revelation];
}
