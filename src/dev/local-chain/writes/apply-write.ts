import type { NodeResponse, NodeSocket } from '../rpc/node-socket.ts';
import type { ChainWrite } from './write-log.ts';

type Call = NodeSocket['call'];

/**
 * Sends a write to a node that mines on request alone, and mines the block that it makes. A transaction whose earlier nonces are missing waits
 * in the pool, and is mined in the block of the one that completes them. @throws OracleError CHAIN_UNREACHABLE
 */
export async function applyWrite(call: Call, { method, params, blockTime }: ChainWrite): Promise<NodeResponse> {
  if (blockTime !== undefined) await call('evm_setNextBlockTimestamp', [blockTime]);
  const response = await call(method, params);
  if (method.startsWith('eth_send') && !response.error && (await hasMinable(call))) await call('evm_mine');
  return response;
}

async function hasMinable(call: Call): Promise<boolean> {
  return Number(((await call('txpool_status')).result as { pending: string }).pending) > 0;
}
