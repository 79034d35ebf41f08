import { type Address, type Hex, zeroHash } from 'viem';
import type { AttestationLog } from '../../chain/eas/attestation-reader.ts';
import { getSchemaUid, type PredictionData, type SchemaName } from '../../chain/eas/attestation-schemas.ts';
import { findFirstBlockSince } from '../../chain/rpc/block-by-time.ts';
import { DAY_MS, type Day, toInstantMs } from '../../forecast/day.ts';
import { checkAttestation } from '../../verify/checks/attestation.ts';
import { getCloseDays } from '../../verify/checks/prediction.ts';
import type { AttestationEvidence, ForecastEvidence, Prediction, RivalSearch } from '../../verify/evidence.ts';
import { createFindings } from '../../verify/findings.ts';
import { type AuditPrices, fetchPriceEvidence } from '../prices/audit-prices.ts';
import { type AuditChain, readAttestation, readBlockTime, readInBatches } from './audit-chain.ts';
import { findAttestations, readNewestBlock } from './find-attestations.ts';

/** Selects a forecast by attestation, by day and horizon, or as the newest of a horizon. */
export type ForecastQuery = { uid: Hex } | { day: Day; horizonDays: number } | { newestOf: number };

export interface ForecastSearch {
  chain: AuditChain;
  attester: Address;
  /** Independent closes; null: those on chain are not checked. */
  prices: AuditPrices | null;
  now: Date;
  onProgress(stage: string, done: number, total: number): void;
}

/** Range of a search around the day of a forecast, and before the newest block. */
const SEARCH_DAYS = 3;
/** Blocks of one search step for a resolution: about two days of a real chain. */
const BLOCKS_PER_STEP = 90_000;
const MAX_STEPS = 3;
/** On a chain whose clock is set, consecutive blocks may have the same timestamp. */
const BLOCKS_OF_ONE_TIME = 16;

/** The evidence of chain and prices about a forecast. @throws OracleError CHAIN_UNREACHABLE, FEED_UNAVAILABLE, FEED_INVALID */
export async function collectForecastEvidence(search: ForecastSearch, uid: Hex): Promise<ForecastEvidence> {
  const evidence = await readEvidence(search, 'prediction', uid);
  const [prediction] = decodeSilently(search, [evidence]);
  if (prediction === undefined) return { prediction: evidence, resolutions: [] };
  const { data, refUid } = prediction;
  const rivals = await findRivals(search, data);
  const previous = data.sequence === 1 || refUid === zeroHash ? null : await readEvidence(search, 'prediction', refUid);
  const found = data.resolvesAt > search.now ? { resolutions: [], search: 'complete' as const } : await findResolutions(search, prediction);
  const isResolved = found.resolutions.length > 0;
  return {
    ...{ prediction: evidence, rivals, previous, ...found },
    prices:
      isResolved && search.prices !== null
        ? await fetchPriceEvidence(search.prices, Object.values(getCloseDays(prediction)))
        : { problem: 'no independent prices were named: --prices live, or a CSV file' },
    ...(!isResolved && { opening: { problem: 'the resolution reveals the values (Basic and Premium see salt and values before)' } }),
  };
}

/** The uid of a prediction, with a note where another one may be meant; null when no readable one is on chain. */
export async function findForecast(search: ForecastSearch, query: ForecastQuery): Promise<{ uid: Hex; note?: string } | null> {
  if ('newestOf' in query) return findNewestForecast(search, query.newestOf);
  if ('day' in query) return (await findRivals(search, query)).committed[0] ?? null;
  const { schema, refUID } = await readAttestation(search.chain, query.uid);
  return { uid: schema === getSchemaUid('resolution') ? refUID : query.uid };
}

/** The newest forecast with an outcome on chain; without one, the newest of all. */
async function findNewestForecast(search: ForecastSearch, horizonDays: number): Promise<{ uid: Hex; note?: string } | null> {
  const isMeant = ({ data }: Prediction) => data.horizonDays === horizonDays;
  const head = await readHeadTime(search);
  const range = { sinceMs: head - SEARCH_DAYS * DAY_MS, untilMs: head + 1_000 };
  const resolutions = await readContents(search, await findLogs(search, 'resolution', range));
  const uids = new Set(resolutions.flatMap(({ content }) => (content !== null && 'refUID' in content ? [content.refUID] : [])));
  const items = [...uids].map((uid) => ({ uid, schema: 'prediction' as const }));
  const resolved = decodeSilently(search, await readContents(search, items)).filter(isMeant);
  if (resolved.length > 0) return resolved.sort((a, b) => b.data.day - a.data.day)[0];
  const newest = (await readPredictions(search, range)).filter(isMeant).at(-1);
  const note = `no ${horizonDays}-day outcome came on chain in the last ${SEARCH_DAYS} days; this is the newest forecast`;
  return newest === undefined ? null : { uid: newest.uid, note };
}

/** Predictions of a day and horizon made around that day, in chain order: those in time, otherwise the late ones. */
async function findRivals(
  search: ForecastSearch,
  { day, horizonDays }: Pick<PredictionData, 'day' | 'horizonDays'>,
): Promise<RivalSearch & { committed: Prediction[] }> {
  const find = async (from: Day, until: Day) =>
    (await readPredictions(search, { sinceMs: toInstantMs(from), untilMs: toInstantMs(until) })).filter(
      ({ data }) => data.day === day && data.horizonDays === horizonDays,
    );
  const inTime = await find(day - SEARCH_DAYS, day + 1);
  const committed = inTime.length > 0 ? inTime : await find(day + 1, day + SEARCH_DAYS);
  return { committed, since: new Date(toInstantMs(day - SEARCH_DAYS)), newest: new Date(await readHeadTime(search)) };
}

/** Resolutions of a prediction from the end of its window on, within `MAX_STEPS` steps. */
async function findResolutions(
  search: ForecastSearch,
  { uid, data }: Prediction,
): Promise<Required<Pick<ForecastEvidence, 'resolutions' | 'search'>>> {
  const head = await readNewestBlock(search.chain);
  const first = Number(await findFirstBlockSince(search.chain, data.resolvesAt));
  let next = first;
  for (let step = 0; step < MAX_STEPS && next <= head; step++) {
    search.onProgress('looking for the resolution', step, MAX_STEPS);
    const logs = await findInRange(search, 'resolution', next, next + BLOCKS_PER_STEP - 1);
    const read = await readContents(search, logs);
    const resolutions = read.filter(({ content }) => content !== null && 'refUID' in content && content.refUID === uid);
    if (resolutions.length > 0) return { resolutions, search: 'complete' };
    next += BLOCKS_PER_STEP;
  }
  if (next > head) return { resolutions: [], search: 'complete' };
  return {
    resolutions: [],
    search: { problem: `its resolution was searched up to block ${next - 1} of ${head}; svc audit searches all` },
  };
}

interface TimeRange {
  sinceMs: number;
  /** Exclusive, up to one block. */
  untilMs: number;
}

async function readPredictions(search: ForecastSearch, range: TimeRange): Promise<Prediction[]> {
  return decodeSilently(search, await readContents(search, await findLogs(search, 'prediction', range)));
}

/** Discards findings: what cannot be read is no forecast. */
function decodeSilently(search: ForecastSearch, evidence: readonly AttestationEvidence<'prediction'>[]): Prediction[] {
  return evidence.flatMap((one) => checkAttestation(one, search, createFindings()) ?? []);
}

type ReadItem<S extends SchemaName> = Pick<AttestationEvidence<S>, 'uid' | 'schema'> & Partial<Pick<AttestationLog, 'blockNumber'>>;

async function readContents<S extends SchemaName>(
  { chain }: ForecastSearch,
  items: readonly ReadItem<S>[],
): Promise<AttestationEvidence<S>[]> {
  const read = async ({ uid, schema, blockNumber }: ReadItem<S>) => ({
    ...{ uid, schema, content: await readAttestation(chain, uid) },
    blockAt: blockNumber === undefined ? null : await readBlockTime(chain, blockNumber),
  });
  return readInBatches(items, { parallel: chain.parallel, read, onRead: () => {} });
}

async function findLogs<S extends SchemaName>(search: ForecastSearch, schema: S, { sinceMs, untilMs }: TimeRange) {
  const [from, through] = await Promise.all([sinceMs, untilMs].map((ms) => findFirstBlockSince(search.chain, new Date(ms))));
  return findInRange(search, schema, Number(from), Number(through));
}

async function findInRange<S extends SchemaName>({ chain, attester }: ForecastSearch, schema: S, fromBlock: number, last: number) {
  const throughBlock = Math.min(await readNewestBlock(chain), last);
  return (await findAttestations(chain, schema, { attester, fromBlock, throughBlock })).map((log) => ({ ...log, schema }));
}

/** The attestation of a uid, dated by the block of its event; the time that the contract returns only narrows the search. */
async function readEvidence<S extends SchemaName>(search: ForecastSearch, schema: S, uid: Hex): Promise<AttestationEvidence<S>> {
  const content = await readAttestation(search.chain, uid);
  const from = Number(await findFirstBlockSince(search.chain, new Date(Number(content.time) * 1_000)));
  const logs = content.uid === uid ? await findInRange(search, schema, from, from + BLOCKS_OF_ONE_TIME) : [];
  const blockNumber = logs.find((log) => log.uid === uid)?.blockNumber;
  const problem = `no event of this attester for a ${schema} of this uid is in the block of the time that the contract returns`;
  return { uid, schema, content, blockAt: blockNumber === undefined ? { problem } : await readBlockTime(search.chain, blockNumber) };
}

async function readHeadTime({ chain }: ForecastSearch): Promise<number> {
  return (await readBlockTime(chain, await readNewestBlock(chain))).getTime();
}
