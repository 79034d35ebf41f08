import type { Address, Hex } from 'viem';
import { createAttestationReader, type FoundAttestation } from '../chain/attestation-reader.ts';
import { chainCall } from '../chain/rpc-error.ts';
import type { SchemaName } from '../chain/schemas.ts';
import { isOracleError } from '../errors.ts';
import type { AuditChain } from './chain.ts';

export interface FindOptions {
  attester: Address;
  fromBlock: number;
  throughBlock: number;
  /** Blocks asked for at first; fewer where the endpoint refuses. Default 10,000. */
  blocksPerRequest?: number;
  onProgress(done: number, total: number): void;
}

/** Fewer blocks than this no endpoint refuses for their number. */
const LEAST_BLOCKS = 100;

/** The newest block. @throws OracleError CHAIN_UNREACHABLE */
export async function newestBlock({ client }: AuditChain): Promise<number> {
  return Number(await chainCall('Reading the block number', () => client.getBlockNumber()));
}

/**
 * Uids of all attestations of a schema by the attester, in the order of the chain. A range that the endpoint refuses is halved.
 * @throws OracleError CHAIN_UNREACHABLE
 */
export async function findAttestations(chain: AuditChain, schema: SchemaName, options: FindOptions): Promise<Hex[]> {
  const { attester, fromBlock, throughBlock, onProgress } = options;
  const reader = createAttestationReader(chain);
  const found: FoundAttestation[] = [];
  let blocks = options.blocksPerRequest ?? 10_000;
  for (let from = fromBlock; from <= throughBlock; ) {
    const to = Math.min(throughBlock, from + blocks - 1);
    try {
      found.push(...(await reader.find({ schema, attester, fromBlock: from, toBlock: to, blocksPerRequest: blocks })));
    } catch (error) {
      if (blocks <= LEAST_BLOCKS || to === from || !isRefusal(error)) throw error;
      blocks = Math.max(LEAST_BLOCKS, Math.floor(blocks / 4));
      continue;
    }
    onProgress(to - fromBlock + 1, throughBlock - fromBlock + 1);
    from = to + 1;
  }
  return found.map(({ uid }) => uid);
}

/** Endpoints say in all kinds of words and codes that a range is too long. */
function isRefusal(error: unknown): boolean {
  return isOracleError(error, 'CHAIN_UNREACHABLE') || isOracleError(error, 'CHAIN_REVERTED');
}
