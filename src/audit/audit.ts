import { getBlockNumber, getTransactionCount } from 'viem/actions';
import { EAS_ADDRESS } from '../chain/addresses.ts';
import { easAbi, schemaRegistryAbi } from '../chain/eas/abi.ts';
import { getSchemaUid, type SchemaName } from '../chain/eas/attestation-schemas.ts';
import { chainCall } from '../chain/rpc/chain-call.ts';
import { getCheck } from '../verify/catalogue.ts';
import { checkRecord, collectNeededDays, decodeRecord } from '../verify/check-record.ts';
import { checkScope } from '../verify/checks/scope.ts';
import { createFindings, type Findings } from '../verify/findings.ts';
import { callContract } from './chain/audit-chain.ts';
import type { EvidenceSearch } from './chain/collect-forecast-evidence.ts';
import { createReadingState, type ReadingState, readRecord } from './chain/read-record.ts';
import { checkServedDistributions } from './claims/check-distributions.ts';
import { checkServedTimestamps, type ReadBlock } from './claims/check-timestamps.ts';
import type { DistributionClaims } from './claims/distribution-claims.ts';
import { readClaims, type ServiceClaims } from './claims/service-claims.ts';
import type { TimestampClaims } from './claims/timestamp-claims.ts';
import type { AuditPrices } from './prices/audit-prices.ts';
import { type AuditReport, buildAuditReport } from './report/audit-report.ts';

export interface AuditOptions extends EvidenceSearch {
  /** First block to read, default 0. The record is complete only if the wallet had sent nothing before it. */
  fromBlock?: number;
  /** Null: closes are not compared, only what follows from those on chain. */
  prices: AuditPrices | null;
  /** The claims of a service; null: audit chain and prices only. */
  claims: ServiceClaims | null;
  /** Default: those of `claims`. Null: the committed distributions are not opened. */
  distributions?: DistributionClaims | null;
  /** Default: those of `claims`. Null: timestamps are not checked. */
  timestamps?: TimestampClaims | null;
  /** Reads the Bitcoin blocks that timestamps name; null or absent: their Merkle roots are not compared. */
  readBlock?: ReadBlock | null;
  /** A reading to continue; it is extended. */
  state?: ReadingState;
  onProgress?(stage: string, done: number, total: number): void;
}

/**
 * Recomputes a record from chain and prices, and reports every inconsistency and every difference from the claims of the service, which is
 * not trusted. Runs in Node and in browsers.
 * @throws OracleError CHAIN_UNREACHABLE, SERVICE_UNREACHABLE, FEED_UNAVAILABLE, FEED_INVALID; the reason of `signal`
 */
export async function audit(options: AuditOptions): Promise<AuditReport> {
  const { chain, attester, fromBlock = 0, prices, claims, now, signal, onProgress = () => {} } = options;
  const state = options.state ?? createReadingState(fromBlock);
  const findings = createFindings();
  await readScope(options, findings);
  const read = async () => {
    const throughBlock = Number(await chainCall('Reading the block number', () => getBlockNumber(chain.client)));
    return { evidence: await readRecord(chain, state, { attester, throughBlock, signal, onProgress }), throughBlock };
  };
  const { evidence, throughBlock, answers } = claims === null ? { ...(await read()), answers: null } : await readClaims(claims, read);
  const record = decodeRecord(evidence, { attester, now }, findings);
  const { deciding, opening } = collectNeededDays(record, now);
  onProgress('fetching prices', 0, 1);
  const days = [...new Set([...opening, ...deciding])].sort((a, b) => a - b);
  const closes = prices && { ...prices, closes: await prices.closes(days) };
  const history = prices && (await prices.history());
  onProgress('fetching prices', 1, 1);
  signal?.throwIfAborted();
  const checked = checkRecord({ record, prices: closes, history, claims: answers, now }, findings);
  onProgress('comparing', 1, 1);
  const { distributions = claims?.distributions ?? null, timestamps = claims?.timestamps ?? null, readBlock = null } = options;
  const challenges = await checkServedDistributions(checked.rows, { distributions, now, findings, signal, onProgress });
  await checkServedTimestamps(checked.rows, { timestamps, readBlock, findings, signal });
  const missingCloses = days.filter((day) => deciding.has(day) && closes?.closes.has(day) === false);
  const { chainId, addresses } = chain;
  const where = { chainId, attester, eas: addresses.eas, fromBlock, throughBlock, service: claims?.source ?? null };
  return buildAuditReport({ where, prices, now, ...checked, record, missingCloses, challenges, findings });
}

async function readScope(options: AuditOptions, findings: Findings): Promise<void> {
  const { chain, fromBlock = 0 } = options;
  const { eas, schemaRegistry } = chain.addresses;
  const readText = async (name: SchemaName) => {
    const call = { address: schemaRegistry, abi: schemaRegistryAbi, functionName: 'getSchema', args: [getSchemaUid(name)] };
    return (await chainCall('Reading a schema', () => callContract<{ schema: string }>(chain, call))).schema;
  };
  const [prediction, resolution] = await Promise.all([readText('prediction'), readText('resolution')]);
  const earlierTransactions = fromBlock === 0 ? 0 : await countEarlierTransactions(options, fromBlock - 1);
  const isKnownEas = eas.toLowerCase() === EAS_ADDRESS;
  checkScope({ schemaTexts: { prediction, resolution }, eas, isKnownEas, fromBlock, earlierTransactions }, findings);
}

/** Transactions and delegated attestations of the wallet up to a block; null when the endpoint has no archive state of it. */
async function countEarlierTransactions({ chain, attester }: AuditOptions, blockNumber: number): Promise<number | null> {
  const signed = { address: chain.addresses.eas, abi: easAbi, functionName: 'getNonce', args: [attester] };
  const counts = [
    chainCall('Counting transactions', () => getTransactionCount(chain.client, { address: attester, blockNumber: BigInt(blockNumber) })),
    chainCall('Counting signed attestations', () => callContract<bigint>(chain, signed, blockNumber)),
  ];
  return Promise.all(counts).then(
    ([sent, attested]) => Number(sent) + Number(attested),
    () => null,
  );
}

const MAX_RUNS = 4;
const BETWEEN_RUNS_MS = 10_000;
/** A service shows its attestations at the latest after this time. */
const CLAIM_GRACE_MS = 300_000;

/** Repeats an audit while all differences may come from an attestation that the service does not show yet. */
export async function auditUntilSettled(runOnce: () => Promise<AuditReport>): Promise<AuditReport> {
  for (let left = MAX_RUNS - 1; ; left--) {
    const report = await runOnce();
    if (left === 0 || !mayBeInProgress(report)) return report;
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_RUNS_MS));
  }
}

/** Whether all differences are in claims shortly after an attestation. */
export function mayBeInProgress({ differences, newestAttestationAt, auditedAt }: AuditReport): boolean {
  const deciding = differences.filter(({ check }) => getCheck(check).appliesTo !== 'corroboration');
  if (deciding.length === 0 || newestAttestationAt === null) return false;
  const isFresh = Date.parse(auditedAt) - Date.parse(newestAttestationAt) < CLAIM_GRACE_MS;
  return isFresh && deciding.every(({ check }) => getCheck(check).appliesTo === 'claims');
}
