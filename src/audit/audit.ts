import type { Address } from 'viem';
import { getTransactionCount, readContract } from 'viem/actions';
import { EAS_ADDRESS } from '../chain/addresses.ts';
import { easAbi, schemaRegistryAbi } from '../chain/eas/abi.ts';
import { getSchemaUid, type SchemaName } from '../chain/eas/attestation-schemas.ts';
import { chainCall } from '../chain/rpc/chain-call.ts';
import { isOracleError } from '../platform/errors.ts';
import { checkRecord, collectNeededDays, decodeRecord } from '../verify/check-record.ts';
import { checkScope } from '../verify/checks/scope.ts';
import { createFindings, type Findings } from '../verify/findings.ts';
import type { AuditChain } from './chain/audit-chain.ts';
import { readNewestBlock } from './chain/find-attestations.ts';
import { createReadingState, type ReadingState, readRecord } from './chain/read-record.ts';
import { type ChainReading, readClaims, type ServiceClaims } from './claims/service-claims.ts';
import { type AuditPrices, fetchPriceEvidence } from './prices/audit-prices.ts';
import { type AuditReport, buildAuditReport } from './report/audit-report.ts';

export interface AuditOptions {
  chain: AuditChain;
  /** The wallet of the record. */
  attester: Address;
  /** First block to read, default 0. The record is complete only if the wallet had sent nothing before it. */
  fromBlock?: number;
  /** Null: closes are not compared, only what follows from those on chain. */
  prices: AuditPrices | null;
  /** The claims of a service; null: audit chain and prices only. */
  claims: ServiceClaims | null;
  now: Date;
  /** A reading to continue; it is extended. */
  state?: ReadingState;
  signal?: AbortSignal;
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
  const read = async (): Promise<ChainReading> => {
    const throughBlock = await readNewestBlock(chain);
    return { evidence: await readRecord(chain, state, { attester, throughBlock, signal, onProgress }), throughBlock };
  };
  const reading = await read();
  onProgress('comparing', 0, 1);
  const { evidence, throughBlock, answers } = claims === null ? { ...reading, answers: null } : await readClaims(claims, reading, read);
  const record = decodeRecord(evidence, { attester, now }, findings);
  const { deciding, opening } = collectNeededDays(record, now);
  onProgress('fetching prices', 0, 1);
  const closes = prices === null ? null : await fetchPriceEvidence(prices, [...opening, ...deciding]);
  const history = prices === null ? null : await prices.history();
  onProgress('fetching prices', 1, 1);
  signal?.throwIfAborted();
  const checked = checkRecord({ record, prices: closes, history, claims: answers, now }, findings);
  onProgress('comparing', 1, 1);
  const missingCloses = closes === null ? [] : [...deciding].filter((day) => !closes.closes.has(day)).sort((a, b) => a - b);
  const { chainId } = chain;
  const scope = { chainId, attester, eas: chain.addresses.eas, fromBlock, throughBlock, prices, service: claims?.source ?? null, now };
  return buildAuditReport({ scope, ...checked, record, missingCloses, findings });
}

async function readScope(options: AuditOptions, findings: Findings): Promise<void> {
  const { client, addresses } = options.chain;
  const address = addresses.schemaRegistry;
  const readText = async (name: SchemaName) => {
    const call = { address, abi: schemaRegistryAbi, functionName: 'getSchema', args: [getSchemaUid(name)] } as const;
    return (await chainCall('Reading a schema', () => readContract(client, call))).schema;
  };
  const [prediction, resolution] = await Promise.all([readText('prediction'), readText('resolution')]);
  checkScope(
    {
      schemaTexts: { prediction, resolution },
      eas: addresses.eas,
      isKnownEas: addresses.eas.toLowerCase() === EAS_ADDRESS,
      fromBlock: options.fromBlock ?? 0,
      earlierTransactions: await countEarlierTransactions(options),
    },
    findings,
  );
}

/** Transactions and delegated attestations of the wallet before the first block; null when the endpoint has no archive state of it. */
async function countEarlierTransactions({ chain, attester, fromBlock = 0 }: AuditOptions): Promise<number | null> {
  if (fromBlock === 0) return 0;
  const { client, addresses } = chain;
  const at = { blockNumber: BigInt(fromBlock - 1) };
  const signed = { address: addresses.eas, abi: easAbi, functionName: 'getNonce', args: [attester] } as const;
  try {
    const sent = await chainCall('Counting transactions', () => getTransactionCount(client, { address: attester, ...at }));
    return sent + Number(await chainCall('Counting signed attestations', () => readContract(client, { ...signed, ...at })));
  } catch (error) {
    if (isOracleError(error, 'CHAIN_UNREACHABLE') || isOracleError(error, 'CHAIN_REVERTED')) return null;
    throw error;
  }
}
