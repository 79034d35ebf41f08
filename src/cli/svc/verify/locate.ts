import type { Address, Hex } from 'viem';
import { type AuditChain, readAttestation, readBlockTime, readInBatches } from '../../../audit/chain/audit-chain.ts';
import { type Attestation, isPlausible, type Prediction, type Revelation, validateAttestation } from '../../../audit/chain/chain-record.ts';
import { findAttestations, readNewestBlock } from '../../../audit/chain/find-attestations.ts';
import { createFindings, type Findings, NO_SUBJECT } from '../../../audit/checks/findings.ts';
import type { AttestationLog } from '../../../chain/eas/attestation-reader.ts';
import {
  decodePrediction,
  decodeResolution,
  getSchemaUid,
  type PredictionData,
  type SchemaName,
} from '../../../chain/eas/attestation-schemas.ts';
import { findFirstBlockSince } from '../../../chain/rpc/block-by-time.ts';
import { toInstantMs } from '../../../forecast/day.ts';
import type { ForecastQuery } from './forecast-query.ts';

export interface ForecastSearch {
  chain: AuditChain;
  attester: Address;
  findings: Findings;
  onProgress(stage: string, done: number, total: number): void;
}

/** Range of the search before and after the day of a forecast. */
const DAYS_AROUND = 3;
/** Blocks of one search step for a resolution: about two days of a real chain. */
const BLOCKS_PER_STEP = 90_000;
const MAX_STEPS = 3;
/** On a chain whose clock is set, consecutive blocks may have the same timestamp. */
const BLOCKS_OF_ONE_TIME = 16;
const NO_PROGRESS = () => {};

/** The prediction on chain, or null. @throws OracleError CHAIN_UNREACHABLE */
export async function locatePrediction(
  search: ForecastSearch,
  query: Exclude<ForecastQuery, { newestOf: number }>,
): Promise<Prediction | null> {
  if ('uid' in query) return readByAnyUid(search, query.uid);
  const [first] = await findCommitments(search, query);
  return first === undefined ? null : readPrediction(search, first.uid);
}

/**
 * Commitments for a day and horizon made around that day, in chain order: those in time, otherwise the late ones. More than one lets the
 * attester choose later which of them to reveal.
 */
export async function findCommitments(
  search: ForecastSearch,
  { day, horizonDays }: Pick<PredictionData, 'day' | 'horizonDays'>,
): Promise<Prediction[]> {
  // Findings about other attestations of these days are discarded.
  const others = { ...search, findings: createFindings() };
  const find = async (fromDay: number, untilDay: number) =>
    (await readPredictionsBetween(others, toInstantMs(fromDay), toInstantMs(untilDay))).filter(
      ({ data }) => data.day === day && data.horizonDays === horizonDays,
    );
  const inTime = await find(day - DAYS_AROUND, day + 1);
  return inTime.length > 0 ? inTime : find(day + 1, day + DAYS_AROUND);
}

async function readByAnyUid(search: ForecastSearch, uid: Hex): Promise<Prediction | null> {
  const raw = await readAttestation(search.chain, uid);
  if (raw.uid !== uid) return null;
  return readPrediction(search, raw.schema === getSchemaUid('resolution') ? raw.refUID : uid);
}

/** Predictions of the attester in a time range, in chain order; those that cannot be decoded are left out. */
export async function readPredictionsBetween(search: ForecastSearch, fromMs: number, toMs: number): Promise<Prediction[]> {
  const { chain } = search;
  const found = await findEventsBetween(search, 'prediction', fromMs, toMs);
  const batch = { parallel: chain.parallel, onRead: NO_PROGRESS };
  const raw = await readInBatches(found, { ...batch, read: ({ uid }) => readAttestation(chain, uid) });
  const times = await readInBatches(found, { ...batch, read: ({ blockNumber }) => readBlockTime(chain, blockNumber) });
  return raw.flatMap((one, index) => {
    const expected = { uid: found[index].uid, schema: 'prediction', attester: search.attester, at: times[index] } as const;
    const prediction = validateAttestation(one, { ...expected, decode: decodePrediction }, search.findings);
    return prediction === null || !isPlausible(prediction, search.findings) ? [] : [prediction];
  });
}

/** Attestation events of the attester in a time range. */
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

/** The prediction of a uid, dated by the block of its event. */
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
    const because = `no ${schema} event of this attester is in the block of the time that the contract returns`;
    findings.addDifference('form', { ...NO_SUBJECT, uid }, { field: 'event', expected: uid, found: null, because });
    return null;
  }
  return validateAttestation(raw, { uid, schema, attester, at: await readBlockTime(chain, block), decode }, findings);
}

/** The block of an attestation's event. The time that the contract returns only narrows the search; the block's time counts. */
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
  /** Last block that was searched. */
  throughBlock: number;
  /** Newest block. */
  head: number;
}

/** Resolutions of a prediction from the end of its window on, within `MAX_STEPS` steps. @throws OracleError CHAIN_UNREACHABLE */
export async function locateRevelations(search: ForecastSearch, { uid, data }: Prediction): Promise<FoundRevelations> {
  const { chain, onProgress } = search;
  const head = await readNewestBlock(chain);
  let from = Number(await findFirstBlockSince(chain, data.resolvesAt));
  const revelations: Revelation[] = [];
  let throughBlock = from;
  for (let step = 0; step < MAX_STEPS && from <= head && revelations.length === 0; step++) {
    throughBlock = Math.min(head, from + BLOCKS_PER_STEP - 1);
    onProgress('looking for the resolution', step, MAX_STEPS);
    const found = await findInRange(search, 'resolution', { fromBlock: from, throughBlock });
    const raw = await readInBatches(found, {
      parallel: chain.parallel,
      read: (one) => readAttestation(chain, one.uid),
      onRead: NO_PROGRESS,
    });
    const ours = found.filter((_, index) => raw[index].refUID === uid);
    for (const one of ours) {
      const revelation = await readByUid(search, { uid: one.uid, schema: 'resolution', decode: decodeResolution });
      if (revelation !== null) revelations.push(revelation);
    }
    from = throughBlock + 1;
  }
  return { revelations, throughBlock, head };
}
