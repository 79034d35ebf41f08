import type { Address, PublicClient } from 'viem';
import { EAS_ADDRESS, SCHEMA_REGISTRY_ADDRESS } from '../../chain/addresses.ts';
import { createEvmReader } from '../../platform/outbound/evm-client.ts';
import { type AuditChain, connectChain } from '../chain/audit-chain.ts';

/** Connects to a chain from Node. The default contracts are the predeploys of the OP Stack. @throws OracleError CHAIN_UNREACHABLE */
export function openAuditChain(options: { rpcUrl: string; eas?: Address; schemaRegistry?: Address }): Promise<AuditChain<PublicClient>> {
  const { rpcUrl, eas = EAS_ADDRESS, schemaRegistry = SCHEMA_REGISTRY_ADDRESS } = options;
  const reader = { rpcUrl, timeoutMs: 30_000, retryDelayMs: 250 };
  const createReader = (retries: boolean, batchSize?: number) => createEvmReader({ ...reader, retryCount: retries ? 3 : 0, batchSize });
  return connectChain(({ batchSize, retries }) => createReader(retries, batchSize), { eas, schemaRegistry });
}
