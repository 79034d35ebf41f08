import type { Address, Hex } from 'viem';
import { type AuditChain, readAttestation, readBlockTime, readInBatches } from '../../../audit/chain/audit-chain.ts';
import { findAttestations, readNewestBlock } from '../../../audit/chain/find-attestations.ts';
import { findFirstBlockSince } from '../../../audit/chain/find-blocks.ts';
import type { AttestationLog } from '../../../chain/eas/attestation-reader.ts';
import { getSchemaUid, type PredictionData, type SchemaName } from '../../../chain/eas/attestation-schemas.ts';

import { DAY_MS, toInstantMs } from '../../../forecast/day.ts';
import { checkAttestation } from '../../../verify/checks/attestation.ts';
import type { Attestation, AttestationEvidence, Prediction, Resolution } from '../../../verify/evidence.ts';
import { createFindings, type Findings } from '../../../verify/findings.ts';
import type { ForecastQuery } from './forecast-query.ts';

export interface ForecastSearch {
  chain: AuditChain;
  attester: Address;
  now: Date;
  findings: Findings;
  onProgress(stage: string, done: number, total: number): void;
}

/** Range of a search around the day of a forecast, and before the newest block. */
const SEARCH_DAYS = 3;
/** Blocks of one search step for a resolution: about two days of a real chain. */
const BLOCKS_PER_STEP = 90_000;
const MAX_STEPS = 3;
/** On a chain whose clock is set, consecutive blocks may have the same timestamp. */
const BLOCKS_OF_ONE_TIME = 16;

/** The prediction on chain, or null. @throws OracleError CHAIN_UNREACHABLE */
export async function locatePrediction(search: ForecastSearch, query: ForecastQuery): Promise<Prediction | null> {
  if ('uid' in query) return locateByUid(search, query.uid);
  const uid = 'newestOf' in query ? await findNewestForecast(search, query.newestOf) : (await findCommitments(search, query))[0]?.uid;
  return uid === undefined ? null : readByUid(search, 'prediction', uid);
}

async function locateByUid(search: ForecastSearch, uid: Hex): Promise<Prediction | null> {
  const raw = await readAttestation(search.chain, uid);
  return readByUid(search, 'prediction', raw.schema === getSchemaUid('resolution') ? raw.refUID : uid);
}

/** Commitments for a day and horizon made around that day, in chain order: those in time, otherwise the late ones. */
export async function findCommitments(
  search: ForecastSearch,
  { day, horizonDays }: Pick<PredictionData, 'day' | 'horizonDays'>,
): Promise<Prediction[]> {
  const find = async (fromDay: number, untilDay: number) =>
    (await readPredictionsBetween(search, toInstantMs(fromDay), toInstantMs(untilDay))).filter(
      ({ data }) => data.day === day && data.horizonDays === horizonDays,
    );
  const inTime = await find(day - SEARCH_DAYS, day + 1);
  return inTime.length > 0 ? inTime : find(day + 1, day + SEARCH_DAYS);
}

/** The newest forecast with an outcome on chain; without one, the newest of all, with a note. */
async function findNewestForecast(search: ForecastSearch, horizonDays: number): Promise<Hex | undefined> {
  const { chain, findings } = search;
  const head = (await readBlockTime(chain, await readNewestBlock(chain))).getTime();
  const lately = [head - SEARCH_DAYS * DAY_MS, head + 1_000] as const;
  const resolutions = await readContents(search, await findBetween(search, 'resolution', ...lately));
  const uids = [...new Set(resolutions.map(({ content }) => ('refUID' in content! ? content.refUID : null)))].filter((uid) => uid !== null);
  // Only a uid is selected here; the checks follow once it is read with its block.
  const predictions = await readContents(
    search,
    uids.map((uid) => ({ uid, schema: 'prediction' as const })),
  );
  const fitting = decodeSilently(search, predictions).filter(({ data }) => data.horizonDays === horizonDays);
  if (fitting.length > 0) return fitting.sort((a, b) => b.data.day - a.data.day)[0].uid;
  const newest = (await readPredictionsBetween(search, ...lately)).filter(({ data }) => data.horizonDays === horizonDays).at(-1);
  if (newest !== undefined)
    findings.note(`no ${horizonDays}-day outcome came on chain in the last ${SEARCH_DAYS} days; this is the newest forecast`);
  return newest?.uid;
}

async function readPredictionsBetween(search: ForecastSearch, fromMs: number, toMs: number): Promise<Prediction[]> {
  return decodeSilently(search, await readContents(search, await findBetween(search, 'prediction', fromMs, toMs)));
}

/** Findings about other attestations than that of the query are discarded. */
function decodeSilently(search: ForecastSearch, evidence: readonly AttestationEvidence<'prediction'>[]): Prediction[] {
  return evidence.flatMap((one) => checkAttestation(one, search, createFindings()) ?? []);
}

interface ReadItem<S extends SchemaName> {
  uid: Hex;
  schema: S;
  blockNumber?: number;
}

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

async function findBetween<S extends SchemaName>(search: ForecastSearch, schema: S, fromMs: number, toMs: number): Promise<ReadItem<S>[]> {
  const fromBlock = Number(await findFirstBlockSince(search.chain, new Date(fromMs)));
  const throughBlock = Number(await findFirstBlockSince(search.chain, new Date(toMs)));
  return (await findInRange(search, schema, { fromBlock, throughBlock })).map((log) => ({ ...log, schema }));
}

async function findInRange(
  { chain, attester }: ForecastSearch,
  schema: SchemaName,
  range: { fromBlock: number; throughBlock: number },
): Promise<AttestationLog[]> {
  const throughBlock = Math.min(await readNewestBlock(chain), range.throughBlock);
  return findAttestations(chain, schema, { attester, fromBlock: range.fromBlock, throughBlock });
}

/** The attestation of a uid, checked and dated by the block of its event; the time that the contract returns only narrows the search. */
export async function readByUid(search: ForecastSearch, schema: 'prediction', uid: Hex): Promise<Prediction | null>;
export async function readByUid(search: ForecastSearch, schema: 'resolution', uid: Hex): Promise<Resolution | null>;
export async function readByUid(search: ForecastSearch, schema: SchemaName, uid: Hex): Promise<Attestation<unknown> | null> {
  const content = await readAttestation(search.chain, uid);
  const block = content.uid === uid ? await findBlock(search, schema, { uid, time: Number(content.time) }) : null;
  const problem = `no event of this attester for a ${schema} of this uid is in the block of the time that the contract returns`;
  const blockAt = block === null ? { problem } : await readBlockTime(search.chain, block);
  return checkAttestation({ uid, schema, content, blockAt }, search, search.findings);
}

async function findBlock(search: ForecastSearch, schema: SchemaName, { uid, time }: { uid: Hex; time: number }): Promise<number | null> {
  const fromBlock = Number(await findFirstBlockSince(search.chain, new Date(time * 1_000)));
  const found = await findInRange(search, schema, { fromBlock, throughBlock: fromBlock + BLOCKS_OF_ONE_TIME });
  return found.find((one) => one.uid === uid)?.blockNumber ?? null;
}

interface FoundResolutions {
  resolutions: Resolution[];
  /** Last block that was searched. */
  throughBlock: number;
  /** Newest block. */
  head: number;
}

/** Resolutions of a prediction from the end of its window on, within `MAX_STEPS` steps. @throws OracleError CHAIN_UNREACHABLE */
export async function locateResolutions(search: ForecastSearch, { uid, data }: Prediction): Promise<FoundResolutions> {
  const { chain, onProgress } = search;
  const head = await readNewestBlock(chain);
  let from = Number(await findFirstBlockSince(chain, data.resolvesAt));
  const resolutions: Resolution[] = [];
  let throughBlock = from;
  for (let step = 0; step < MAX_STEPS && from <= head && resolutions.length === 0; step++) {
    throughBlock = Math.min(head, from + BLOCKS_PER_STEP - 1);
    onProgress('looking for the resolution', step, MAX_STEPS);
    const logs = await findInRange(search, 'resolution', { fromBlock: from, throughBlock });
    const found = await readContents(
      search,
      logs.map((log) => ({ ...log, schema: 'resolution' as const })),
    );
    const ours = found.filter(({ content }) => content !== null && 'refUID' in content && content.refUID === uid);
    resolutions.push(...ours.flatMap((one) => checkAttestation(one, search, search.findings) ?? []));
    from = throughBlock + 1;
  }
  return { resolutions, throughBlock, head };
}
