import { type Hex, zeroHash } from 'viem';
import { getSchemaUid, type SchemaName } from '../../chain/eas/attestation-schemas.ts';
import { DAY_MS, type Day, toInstantMs } from '../../forecast/day.ts';
import { checkAttestation } from '../../verify/checks/attestation.ts';
import { getCloseDays } from '../../verify/checks/prediction.ts';
import type { AttestationEvidence, CheckContext, ForecastEvidence, Prediction, RivalEvidence } from '../../verify/evidence.ts';
import { isUnread } from '../../verify/evidence.ts';
import { createFindings } from '../../verify/findings.ts';
import type { AuditPrices } from '../prices/audit-prices.ts';
import { type AuditChain, readAttestation, readAttestations, readBlock } from './audit-chain.ts';
import { findAttestations } from './find-attestations.ts';
import { findFirstBlocks } from './find-blocks.ts';
import { createReadingState, readSchema } from './read-record.ts';

/** Selects a forecast by attestation, by day and horizon, or as the newest of a horizon. */
export type ForecastQuery = ({ uid: Hex } | { day: Day; horizonDays: number } | { newestOf: number }) & { what: string };

/** Where evidence is looked for. */
export interface EvidenceSearch extends CheckContext {
  chain: AuditChain;
  signal?: AbortSignal | undefined;
}

export interface ForecastSearch extends EvidenceSearch {
  /** Independent closes; null: those on chain are not checked. */
  prices: AuditPrices | null;
  onProgress(stage: string, done: number, total: number): void;
}

/** Range of a search before and after the day of a forecast, and before the newest block. */
const SEARCH_DAYS = 3;
/** Blocks of one search step for a resolution: about two days of a real chain. */
const BLOCKS_PER_STEP = 90_000;
const MAX_STEPS = 3;
/** On a chain whose clock is set, consecutive blocks may have the same timestamp. */
const BLOCKS_OF_ONE_TIME = 16;

/** The evidence of chain and prices about a forecast. @throws OracleError CHAIN_UNREACHABLE, FEED_UNAVAILABLE, FEED_INVALID */
export async function collectForecastEvidence(search: ForecastSearch, uid: Hex): Promise<ForecastEvidence> {
  const evidence = await readPrediction(search, uid);
  const [prediction] = decodeSilently(search, [evidence]);
  if (prediction === undefined) return { prediction: evidence, resolutions: [] };
  const { data, refUid } = prediction;
  const rivals = await findCommitments(search, getRangeAround(data.day));
  const previous = data.sequence === 1 || refUid === zeroHash ? null : await readPrediction(search, refUid);
  const found = data.resolvesAt > search.now ? { resolutions: [], search: 'complete' as const } : await findResolutions(search, prediction);
  const isResolved = found.resolutions.length > 0;
  const closes = isResolved && (await search.prices?.closes(Object.values(getCloseDays(prediction))));
  const unnamed = { problem: 'no independent prices were named: --prices live, or a CSV file' };
  return {
    ...{ prediction: evidence, rivals, previous, ...found },
    prices: search.prices && closes ? { ...search.prices, closes } : unnamed,
    ...(!isResolved && { opening: { problem: 'the resolution reveals the values (Basic and Premium see salt and values before)' } }),
  };
}

/** The uid of a prediction, with a note where another one may be meant; null when no readable one is on chain. */
export async function findForecast(search: ForecastSearch, query: ForecastQuery): Promise<{ uid: Hex; note?: string } | null> {
  if ('newestOf' in query) return findNewestForecast(search, query.newestOf);
  if ('day' in query) {
    const { day, horizonDays } = query;
    const found = getCommitted(await findCommitments(search, getRangeAround(day)));
    return found.find(({ data }) => data.day === day && data.horizonDays === horizonDays) ?? null;
  }
  const { schema, refUID } = await readAttestation(search.chain, query.uid);
  return { uid: schema === getSchemaUid('resolution') ? refUID : query.uid };
}

/** The newest forecast with an outcome on chain; without one, the newest of all. */
async function findNewestForecast(search: ForecastSearch, horizonDays: number): Promise<{ uid: Hex; note?: string } | null> {
  const { at, number } = await readBlock(search.chain, 'latest');
  const range = { since: new Date(at.getTime() - SEARCH_DAYS * DAY_MS), until: new Date(at.getTime() + 1_000) };
  const { first } = await findFirstBlocks(search.chain, [range.since]);
  const resolutions = await readRange(search, 'resolution', first[0], number);
  const uids = new Set(resolutions.flatMap(({ content }) => content?.refUID ?? []));
  const isMeant = ({ data }: Prediction) => data.horizonDays === horizonDays;
  const resolved = decodeSilently(search, await readPredictions(search, [...uids])).filter(isMeant);
  if (resolved.length > 0) return resolved.sort((a, b) => b.data.day - a.data.day)[0];
  const newest = getCommitted(await findCommitments(search, range)).findLast(isMeant);
  const note = `no ${horizonDays}-day outcome came on chain in the last ${SEARCH_DAYS} days; this is the newest forecast`;
  return newest === undefined ? null : { uid: newest.uid, note };
}

function getRangeAround(day: Day) {
  return { since: new Date(toInstantMs(day - SEARCH_DAYS)), until: new Date(toInstantMs(day + SEARCH_DAYS)) };
}

const getCommitted = (found: RivalEvidence): readonly Prediction[] => (isUnread(found) ? [] : found.committed);

/** Predictions of the wallet in a time range, `until` exclusive. @throws OracleError CHAIN_UNREACHABLE; the reason of `signal` */
export async function findCommitments(
  search: EvidenceSearch,
  { since, until }: { since: Date; until: Date },
  { maxBlocks = Number.POSITIVE_INFINITY, maxPredictions = Number.POSITIVE_INFINITY } = {},
): Promise<RivalEvidence> {
  const { first, newest } = await findFirstBlocks(search.chain, [since, until]);
  const blocks = first[1] - first[0];
  if (blocks > maxBlocks) return { problem: `${blocks} blocks are too many to search at once: check one forecast by itself` };
  const logs = await findAttestations(search.chain, 'prediction', { ...search, fromBlock: first[0], throughBlock: first[1] - 1 });
  const found = { since, newest: newest.at };
  if (logs.length > maxPredictions) return { ...found, committed: [], tooMany: maxPredictions };
  const uids = logs.map(({ uid }) => uid);
  const evidence = await readPredictions(search, uids);
  if (evidence.some(({ uid, content }) => content.uid !== uid))
    return { problem: 'the endpoint lists an attestation but does not return it' };
  // What is of another wallet or schema, or cannot be decoded, commits to nothing.
  return { ...found, committed: decodeSilently(search, evidence) };
}

/** Resolutions of a prediction from a day before the end of its window on, within `MAX_STEPS` steps. */
async function findResolutions(search: ForecastSearch, { uid, data }: Prediction) {
  const { first, newest } = await findFirstBlocks(search.chain, [new Date(data.resolvesAt.getTime() - DAY_MS)]);
  let next = first[0];
  for (let step = 0; step < MAX_STEPS && next <= newest.number; step++, next += BLOCKS_PER_STEP) {
    search.onProgress('looking for the resolution', step, MAX_STEPS);
    const read = await readRange(search, 'resolution', next, Math.min(newest.number, next + BLOCKS_PER_STEP - 1));
    const resolutions = read.filter(({ content }) => content?.refUID === uid);
    if (resolutions.length > 0) return { resolutions, search: 'complete' as const };
  }
  if (next > newest.number) return { resolutions: [], search: 'complete' as const };
  const problem = `its resolution was searched up to block ${next - 1} of ${newest.number}; svc audit searches all`;
  return { resolutions: [], search: { problem } };
}

/** Discards findings: what cannot be read is no forecast. */
function decodeSilently(search: EvidenceSearch, evidence: readonly AttestationEvidence<'prediction'>[]): Prediction[] {
  return evidence.flatMap((one) => checkAttestation(one, search, createFindings()) ?? []);
}

/** Undated: their uids are digests of their times, too. */
async function readPredictions({ chain, signal }: EvidenceSearch, uids: readonly Hex[]) {
  const contents = await readAttestations(chain, uids, { signal });
  return uids.map((uid, index) => ({ uid, schema: 'prediction' as const, content: contents[index]!, blockAt: null }));
}

function readRange<S extends SchemaName>(search: EvidenceSearch, schema: S, fromBlock: number, throughBlock: number) {
  const { chain, attester, signal } = search;
  return readSchema(chain, schema, createReadingState(fromBlock), { attester, throughBlock, signal });
}

/** The prediction of a uid, dated by the block of its event; the time that the contract returns only narrows the search. */
async function readPrediction(search: EvidenceSearch, uid: Hex): Promise<AttestationEvidence<'prediction'>> {
  const content = await readAttestation(search.chain, uid);
  const problem = 'no event of this attester for a prediction of this uid is in the block of the time that the contract returns';
  const undated = { uid, schema: 'prediction' as const, content, blockAt: { problem } };
  if (content.uid !== uid) return undated;
  const { first, newest } = await findFirstBlocks(search.chain, [new Date(Number(content.time) * 1_000)]);
  const made = await readRange(search, 'prediction', first[0], Math.min(newest.number, first[0] + BLOCKS_OF_ONE_TIME));
  return made.find((one) => one.uid === uid) ?? undated;
}
