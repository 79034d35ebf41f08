import type { Address, PublicClient } from 'viem';
import { EAS_ADDRESS, SCHEMA_REGISTRY_ADDRESS } from '../../chain/addresses.ts';
import { createEvmReader } from '../../platform/outbound/evm-client.ts';
import { type AuditChain, connectChain } from '../chain/audit-chain.ts';

export interface AuditChainOptions {
  rpcUrl: string;
  /** Default: the predeploys of the OP Stack. */
  eas?: Address;
  schemaRegistry?: Address;
}

/** Connects to a chain from Node. @throws OracleError CHAIN_UNREACHABLE */
export function openAuditChain({ rpcUrl, ...addresses }: AuditChainOptions): Promise<AuditChain<PublicClient>> {
  const options = { rpcUrl, timeoutMs: 30_000, retryDelayMs: 250 };
  return connectChain(({ batchSize, retries }) => createEvmReader({ ...options, retryCount: retries ? 3 : 0, batchSize }), {
    eas: addresses.eas ?? EAS_ADDRESS,
    schemaRegistry: addresses.schemaRegistry ?? SCHEMA_REGISTRY_ADDRESS,
  });
}
