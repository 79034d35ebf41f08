import type { Address } from 'viem';
import { EAS_ADDRESS } from '../chain/addresses.ts';
import { schemaRegistryAbi } from '../chain/eas/abi.ts';
import { getSchemaUid, type SchemaName } from '../chain/eas/attestation-schemas.ts';
import { chainCall } from '../chain/rpc/chain-call.ts';
import { checkRecord, collectNeededDays, decodeRecord } from '../verify/check-record.ts';
import { checkScope } from '../verify/checks/scope.ts';
import { createFindings, type Findings } from '../verify/findings.ts';
import type { AuditChain } from './chain/audit-chain.ts';
import { countEarlierTransactions } from './chain/count-earlier-transactions.ts';
import { readNewestBlock } from './chain/find-attestations.ts';
import { createReadingState, type ReadingState, readRecord } from './chain/read-record.ts';
import { type ChainReading, readClaims } from './claims/read-claims.ts';
import type { ServiceClaims } from './claims/service-claims.ts';
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
  /** The claims of a service, which need prices; null: audit chain and prices only. */
  claims: ServiceClaims | null;
  now: Date;
  /** A reading to continue; it is extended. */
  state?: ReadingState;
  signal?: AbortSignal;
  onProgress?(stage: string, done: number, total: number): void;
}

/**
 * Recomputes a record from chain and prices, and reports every inconsistency and every difference from the claims of the service, which is
 * not trusted.
 * @throws OracleError CHAIN_UNREACHABLE, SERVICE_UNREACHABLE, FEED_UNAVAILABLE, FEED_INVALID; the reason of `signal`
 */
export async function audit(options: AuditOptions): Promise<AuditReport> {
  const { chain, attester, fromBlock = 0, prices, claims, now, onProgress = () => {} } = options;
  const state = options.state ?? createReadingState(fromBlock);
  const findings = createFindings();
  await readScope(options, findings);
  const read = async (): Promise<ChainReading> => {
    const throughBlock = await readNewestBlock(chain);
    return { evidence: await readRecord(chain, state, { attester, throughBlock, signal: options.signal, onProgress }), throughBlock };
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
  const checked = checkRecord({ record, prices: closes, history, claims: answers, now }, findings);
  onProgress('comparing', 1, 1);
  const missingCloses = closes === null ? [] : [...deciding].filter((day) => !closes.closes.has(day)).sort((a, b) => a - b);
  const { chainId } = chain;
  const scope = { chainId, attester, eas: chain.addresses.eas, fromBlock, throughBlock, prices, service: claims?.source ?? null, now };
  return buildAuditReport({ scope, ...checked, record, missingCloses, findings });
}

async function readScope({ chain, attester, fromBlock = 0 }: AuditOptions, findings: Findings): Promise<void> {
  const { client, addresses } = chain;
  const readText = async (name: SchemaName) => {
    const call = {
      address: addresses.schemaRegistry,
      abi: schemaRegistryAbi,
      functionName: 'getSchema',
      args: [getSchemaUid(name)],
    } as const;
    return (await chainCall('Reading a schema', () => client.readContract(call))).schema;
  };
  checkScope(
    {
      schemaTexts: { prediction: await readText('prediction'), resolution: await readText('resolution') },
      eas: addresses.eas,
      isKnownEas: addresses.eas.toLowerCase() === EAS_ADDRESS,
      fromBlock,
      earlierTransactions: await countEarlierTransactions(chain, { attester, fromBlock }),
    },
    findings,
  );
}
