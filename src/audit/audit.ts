import type { Address, Hex } from 'viem';
import { EAS_ADDRESS } from '../chain/addresses.ts';
import { schemaRegistryAbi } from '../chain/eas/abi.ts';
import { EAS_SCHEMAS, getSchemaUid, type SchemaName } from '../chain/eas/attestation-schemas.ts';
import { chainCall } from '../chain/rpc/chain-call.ts';
import { type Day, formatDay, toDay } from '../forecast/day.ts';
import type { AuditChain } from './chain/audit-chain.ts';
import { type ChainRecord, type Prediction, readChainRecord } from './chain/chain-record.ts';
import { readNewestBlock } from './chain/find-attestations.ts';
import { type AuditedRow, getCloseDays, isLatePrediction, isMissedPrediction } from './checks/audited-row.ts';
import { checkCloseCalls } from './checks/check-close-calls.ts';
import { checkFirstBlock } from './checks/check-first-block.ts';
import { auditForecast, isBeyondData, matchRevelations } from './checks/check-resolutions.ts';
import { checkSequences } from './checks/check-sequences.ts';
import { checkSingleClose } from './checks/check-single-close.ts';
import { createFindings, type Findings, NO_SUBJECT } from './checks/findings.ts';
import { formatInstant } from './checks/format-instant.ts';
import { compareClaims } from './claims/compare-claims.ts';
import { type ChainReading, readClaims } from './claims/read-claims.ts';
import type { ServiceClaims } from './claims/service-claims.ts';
import type { AuditPrices } from './prices/audit-prices.ts';
import { createBaseRates } from './prices/base-rates.ts';
import { type AuditReport, buildAuditReport } from './report/audit-report.ts';
import { type RecomputedFigures, recompute, toRecordRows } from './report/recompute.ts';

export interface AuditOptions {
  chain: AuditChain;
  /** The wallet of the record. */
  attester: Address;
  /** First block to read, default 0. The record is complete only if the wallet had sent nothing before it. */
  fromBlock?: number;
  prices: AuditPrices;
  /** The claims of a service; null: audit chain and prices only. */
  claims: ServiceClaims | null;
  now: Date;
  onProgress?(stage: string, done: number, total: number): void;
}

/**
 * Recomputes a record from chain and prices, and reports every inconsistency and every difference from the claims of the service, which is
 * not trusted.
 * @throws OracleError CHAIN_UNREACHABLE, SERVICE_UNREACHABLE, FEED_UNAVAILABLE, FEED_INVALID
 */
export async function audit(options: AuditOptions): Promise<AuditReport> {
  const { chain, attester, fromBlock = 0, prices, claims, now, onProgress = () => {} } = options;
  const findings = createFindings();
  const newest = await readNewestBlock(chain);
  await checkSchemas(chain, findings);
  noteForeignAddress(chain, findings);
  await checkFirstBlock(chain, { attester, fromBlock }, findings);
  const initialReading = {
    record: await readChainRecord(chain, { attester, fromBlock, throughBlock: newest, onProgress }, findings),
    throughBlock: newest,
  };
  onProgress('comparing', 0, 1);
  const claimedReading =
    claims === null ? null : await readClaims(claims, initialReading, (from) => readNewAttestations(from, options, findings));
  const { record, throughBlock } = claimedReading ?? initialReading;
  const { rows, closes, missingCloses } = await auditRows(record, options, findings);
  const recomputed = await recomputeAll(rows, prices, findings);
  if (claimedReading !== null) compareClaims({ rows, recomputed }, { answers: claimedReading.answers, prices, closes, now, findings });
  onProgress('comparing', 1, 1);
  const { chainId } = chain;
  const scope = { chainId, attester, eas: chain.addresses.eas, fromBlock, throughBlock, prices, service: claims?.source ?? null, now };
  return buildAuditReport({ scope, rows, recomputed, missingCloses, findings, newestAt: getNewestTime(record) });
}

/** Appends the attestations made since a reading. */
async function readNewAttestations(
  { record, throughBlock }: ChainReading,
  { chain, attester }: AuditOptions,
  findings: Findings,
): Promise<ChainReading> {
  const newest = await readNewestBlock(chain);
  if (newest <= throughBlock) return { record, throughBlock };
  const since = { attester, fromBlock: throughBlock + 1, throughBlock: newest, onProgress: () => {} };
  const { predictions, revelations } = await readChainRecord(chain, since, findings);
  const joined = { predictions: [...record.predictions, ...predictions], revelations: [...record.revelations, ...revelations] };
  return { record: joined, throughBlock: newest };
}

/** Checks that the schema registry has our schemas, whose uids are digests of their texts. */
async function checkSchemas({ client, addresses }: AuditChain, findings: Findings): Promise<void> {
  for (const name of Object.keys(EAS_SCHEMAS) as SchemaName[]) {
    const uid = getSchemaUid(name);
    const call = { address: addresses.schemaRegistry, abi: schemaRegistryAbi, functionName: 'getSchema', args: [uid] } as const;
    const { schema } = await chainCall('Reading a schema', () => client.readContract(call));
    // A schema is registered with its first attestation.
    if (schema === '') findings.addNote(`the ${name} schema is not registered on this chain`);
    else findings.compare('form', { ...NO_SUBJECT, uid }, { field: `${name} schema`, expected: EAS_SCHEMAS[name], found: schema });
  }
}

function noteForeignAddress({ addresses }: AuditChain, findings: Findings): void {
  if (addresses.eas.toLowerCase() === EAS_ADDRESS) return;
  findings.addNote(`attestations are read from ${addresses.eas}, which is not the EAS address of OP chains: verify the contract yourself`);
}

async function auditRows({ predictions, revelations }: ChainRecord, { prices, now, onProgress }: AuditOptions, findings: Findings) {
  const sequences = checkSequences(predictions, findings);
  const matched = matchRevelations(predictions, revelations, findings);
  const valid = sequences.flatMap((sequence) => sequence.predictions);
  const needed = collectNeededDays(valid, matched, now);
  onProgress?.('fetching prices', 0, 1);
  const closes = await prices.closes([...new Set([...needed.opening, ...needed.deciding])].sort((a, b) => a - b));
  onProgress?.('fetching prices', 1, 1);
  const context = { prices, closes, now, findings };
  const rows = valid.map((prediction) => auditForecast(prediction, matched.get(prediction.uid) ?? null, context));
  checkSingleClose(rows, findings);
  checkCloseCalls(rows, { prices, closes, findings });
  noteVoids(rows, findings);
  noteRecordEnd(rows, { prices, now }, findings);
  const missingCloses = [...needed.deciding].filter((day) => !closes.has(day)).sort((a, b) => a - b);
  return { rows, closes, missingCloses };
}

/** The days whose closes decide resolved forecasts, and the first and last days of the windows of all others. */
function collectNeededDays(predictions: readonly Prediction[], matched: ReadonlyMap<Hex, unknown>, now: Date) {
  const deciding = new Set<Day>();
  const opening = new Set<Day>();
  for (const prediction of predictions) {
    const { from, to } = getCloseDays(prediction);
    if (matched.has(prediction.uid) && !isLatePrediction(prediction) && !isMissedPrediction(prediction)) deciding.add(from).add(to);
    else {
      opening.add(from);
      if (prediction.data.resolvesAt <= now) opening.add(to);
    }
  }
  return { deciding, opening };
}

function noteVoids(rows: readonly AuditedRow[], findings: Findings): void {
  for (const { prediction, missed, late } of rows) {
    if (!missed && !late) continue;
    const { day, horizonDays, windowOpensAt } = prediction.data;
    const why = missed
      ? 'nothing was forecast'
      : `attested at ${formatInstant(prediction.at)}, after its window opened at ${formatInstant(windowOpensAt)}`;
    findings.addNote(`${formatDay(day)} ${horizonDays}d is VOID: ${why}`);
  }
}

/** A record that stops is no difference, but readers of its figures need to know. */
function noteRecordEnd(rows: readonly AuditedRow[], { prices, now }: Pick<AuditOptions, 'prices' | 'now'>, findings: Findings): void {
  const last = rows.reduce((latest, { prediction }) => Math.max(latest, prediction.data.day), Number.NEGATIVE_INFINITY);
  // The forecast of today is made in the evening.
  if (rows.length > 0 && last < toDay(now.getTime()) - 1) findings.addNote(`nothing has been forecast since ${formatDay(last)}`);
  const open = rows.filter(({ status, prediction }) => status === 'PENDING' && isBeyondData(prediction, prices)).length;
  if (open > 0) findings.addNote(`${open} forecasts stay pending: the data of the record ends on ${formatDay(prices.endsOn as Day)}`);
}

async function recomputeAll(rows: readonly AuditedRow[], prices: AuditPrices, findings: Findings): Promise<RecomputedFigures[]> {
  const history = await prices.history();
  const baseRates = createBaseRates(history);
  const groups = Map.groupBy(rows, ({ prediction }) => prediction.data.horizonDays);
  const recomputed = [...groups].map(([horizonDays, members]) => recompute(toRecordRows(members, baseRates), horizonDays));
  if (recomputed.some(({ summary, statistics }) => summary.brier === null && statistics.probabilities !== null)) {
    findings.addNote('figures against the base rate are omitted: these prices do not cover the training years');
  }
  return recomputed;
}

function getNewestTime({ predictions, revelations }: ChainRecord): Date | null {
  const times = [...predictions, ...revelations].map(({ at }) => at.getTime());
  return times.length === 0 ? null : new Date(times.reduce((newest, at) => Math.max(newest, at), 0));
}
