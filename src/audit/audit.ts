import type { Address, Hex } from 'viem';
import { EAS_ADDRESS } from '../chain/addresses.ts';
import { schemaRegistryAbi } from '../chain/eas-abi.ts';
import { chainCall } from '../chain/rpc-error.ts';
import { SCHEMAS, type SchemaName, schemaUid } from '../chain/schemas.ts';
import { type Day, dayOf, formatDay } from '../forecast/day.ts';
import { baseRatesOf } from './base-rates.ts';
import type { AuditChain } from './chain.ts';
import type { Claims } from './claims.ts';
import { checkCloseCalls } from './close-calls.ts';
import { compareClaims } from './compare-claims.ts';
import { newestBlock } from './find.ts';
import { createFindings, type Findings, NOTHING } from './findings.ts';
import { checkNothingBefore } from './first-block.ts';
import { iso } from './iso.ts';
import { checkOneClose } from './one-close.ts';
import type { AuditPrices } from './prices.ts';
import { type Reading, readClaims } from './read-claims.ts';
import { type ChainRecord, type Prediction, readChainRecord } from './read-record.ts';
import { type Recomputed, recompute, recordRowsOf } from './recompute.ts';
import { type AuditReport, reportOf } from './report.ts';
import { auditRow, isBeyondData, matchRevelations } from './resolutions.ts';
import { type AuditedRow, closeDays, isLate, isMissed } from './rows.ts';
import { checkSequences } from './sequence.ts';

export interface AuditOptions {
  chain: AuditChain;
  /** The wallet whose record it is. */
  attester: Address;
  /** First block that is read; default 0. From a later one the record is whole only if the wallet had sent nothing before. */
  fromBlock?: number;
  prices: AuditPrices;
  /** What the service says of itself; null: chain and prices alone are audited. */
  claims: Claims | null;
  now: Date;
  onProgress?(stage: string, done: number, total: number): void;
}

/**
 * Recomputes a record from the chain and from prices, and names everything that is not as it should be or not as the service claims.
 * Nothing that the service says is believed.
 * @throws OracleError CHAIN_UNREACHABLE, SERVICE_UNREACHABLE, FEED_UNAVAILABLE, FEED_INVALID
 */
export async function audit(options: AuditOptions): Promise<AuditReport> {
  const { chain, attester, fromBlock = 0, prices, claims, now, onProgress = () => {} } = options;
  const findings = createFindings();
  const newest = await newestBlock(chain);
  await checkSchemas(chain, findings);
  noteAddress(chain, findings);
  await checkNothingBefore(chain, { attester, fromBlock }, findings);
  const begun = {
    record: await readChainRecord(chain, { attester, fromBlock, throughBlock: newest, onProgress }, findings),
    throughBlock: newest,
  };
  onProgress('comparing', 0, 1);
  const told = claims === null ? null : await readClaims(claims, begun, (from) => readOn(from, options, findings));
  const { record, throughBlock } = told ?? begun;
  const { rows, closes, missingCloses } = await auditRows(record, options, findings);
  const recomputed = await recomputeAll(rows, prices, findings);
  if (told !== null) compareClaims({ rows, recomputed }, { answers: told.answers, prices, closes, now, findings });
  onProgress('comparing', 1, 1);
  const { chainId } = chain;
  const scope = { chainId, attester, eas: chain.addresses.eas, fromBlock, throughBlock, prices, service: claims?.source ?? null, now };
  return reportOf({ scope, rows, recomputed, missingCloses, findings, newestAt: newestOf(record) });
}

/** A reading with what was attested since. */
async function readOn({ record, throughBlock }: Reading, { chain, attester }: AuditOptions, findings: Findings): Promise<Reading> {
  const newest = await newestBlock(chain);
  if (newest <= throughBlock) return { record, throughBlock };
  const since = { attester, fromBlock: throughBlock + 1, throughBlock: newest, onProgress: () => {} };
  const { predictions, revelations } = await readChainRecord(chain, since, findings);
  const joined = { predictions: [...record.predictions, ...predictions], revelations: [...record.revelations, ...revelations] };
  return { record: joined, throughBlock: newest };
}

/** The schemas' texts stand in the registry that was named: their uids are digests of them. */
async function checkSchemas({ client, addresses }: AuditChain, findings: Findings): Promise<void> {
  for (const name of Object.keys(SCHEMAS) as SchemaName[]) {
    const call = { address: addresses.schemaRegistry, abi: schemaRegistryAbi, functionName: 'getSchema', args: [schemaUid(name)] } as const;
    const { schema } = await chainCall('Reading a schema', () => client.readContract(call));
    // None is registered before the first attestation.
    if (schema === '') findings.note(`the ${name} schema is not registered on this chain`);
    else
      findings.compare('form', { ...NOTHING, uid: schemaUid(name) }, { field: `${name} schema`, expected: SCHEMAS[name], found: schema });
  }
}

function noteAddress({ addresses }: AuditChain, findings: Findings): void {
  if (addresses.eas.toLowerCase() === EAS_ADDRESS) return;
  findings.note(
    `attestations are read from ${addresses.eas}, which is not where OP chains have EAS: what contract it is, see for yourself`,
  );
}

async function auditRows({ predictions, revelations }: ChainRecord, { prices, now, onProgress }: AuditOptions, findings: Findings) {
  const sequences = checkSequences(predictions, findings);
  const matched = matchRevelations(predictions, revelations, findings);
  const standing = sequences.flatMap((sequence) => sequence.standing);
  const needed = daysNeeded(standing, matched, now);
  onProgress?.('fetching prices', 0, 1);
  const closes = await prices.closes([...new Set([...needed.opening, ...needed.deciding])].sort((a, b) => a - b));
  onProgress?.('fetching prices', 1, 1);
  const rows = standing.map((prediction) => auditRow(prediction, matched.get(prediction.uid) ?? null, { prices, closes, now, findings }));
  checkOneClose(rows, findings);
  checkCloseCalls(rows, { prices, closes, findings });
  noteVoids(rows, findings);
  noteEnd(rows, { prices, now }, findings);
  const missingCloses = [...needed.deciding].filter((day) => !closes.has(day)).sort((a, b) => a - b);
  return { rows, closes, missingCloses };
}

/** Days whose closes decide what is resolved, and those of what is not: that open its window, and that would end it. */
function daysNeeded(
  standing: readonly Prediction[],
  matched: ReadonlyMap<Hex, unknown>,
  now: Date,
): { deciding: Set<Day>; opening: Set<Day> } {
  const deciding = new Set<Day>();
  const opening = new Set<Day>();
  for (const prediction of standing) {
    const { from, to } = closeDays(prediction);
    if (matched.has(prediction.uid) && !isLate(prediction) && !isMissed(prediction)) deciding.add(from).add(to);
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
    const why = missed ? 'nothing was forecast' : `attested at ${iso(prediction.at)}, after its window opened at ${iso(windowOpensAt)}`;
    findings.note(`${formatDay(day)} ${horizonDays}d is VOID: ${why}`);
  }
}

/** A record that stops is not wrong, and whoever reads its figures wants to know. */
function noteEnd(rows: readonly AuditedRow[], { prices, now }: Pick<AuditOptions, 'prices' | 'now'>, findings: Findings): void {
  const last = rows.reduce((latest, { prediction }) => Math.max(latest, prediction.data.day), Number.NEGATIVE_INFINITY);
  // The forecast of today is made in the evening.
  if (rows.length > 0 && last < dayOf(now.getTime()) - 1) findings.note(`nothing has been forecast since ${formatDay(last)}`);
  const open = rows.filter(({ status, prediction }) => status === 'PENDING' && isBeyondData(prediction, prices)).length;
  if (open > 0) findings.note(`${open} forecasts stay open for good: the data of the record ends on ${formatDay(prices.endsOn as Day)}`);
}

async function recomputeAll(rows: readonly AuditedRow[], prices: AuditPrices, findings: Findings): Promise<Recomputed[]> {
  const history = await prices.history();
  const baseRates = baseRatesOf(history);
  const groups = Map.groupBy(rows, ({ prediction }) => prediction.data.horizonDays);
  const recomputed = [...groups].map(([horizonDays, members]) => recompute(recordRowsOf(members, baseRates), horizonDays));
  if (recomputed.some(({ summary, statistics }) => summary.brier === null && statistics.probabilities !== null)) {
    findings.note('figures against the base rate are left out: these prices do not reach back to the training years');
  }
  return recomputed;
}

function newestOf({ predictions, revelations }: ChainRecord): Date | null {
  const times = [...predictions, ...revelations].map(({ at }) => at.getTime());
  return times.length === 0 ? null : new Date(times.reduce((newest, at) => Math.max(newest, at), 0));
}
