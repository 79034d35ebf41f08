import { getErrorMessage, OracleError } from '../../platform/errors.ts';
import { createOperatorFetch } from '../../platform/outbound/operator-fetch.ts';

/** Enough for a dump of the chain's state. */
const TIMEOUT_MS = 120_000;
const MAX_BYTES = 512 * 2 ** 20;

/** For `anvil_*` and `evm_*` methods. @throws OracleError CHAIN_UNREACHABLE without a response, CHAIN_REVERTED for an error of the node */
export async function callJsonRpc<T = unknown>(rpcUrl: string, method: string, ...params: unknown[]): Promise<T> {
  const { error, result } = await postJsonRpc(rpcUrl, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  if (error) throw new OracleError('CHAIN_REVERTED', `${method} was refused: ${error.message}`);
  return result as T;
}

async function postJsonRpc(rpcUrl: string, body: string): Promise<{ result?: unknown; error?: { message: string } }> {
  try {
    const fetchNode = createOperatorFetch({ base: rpcUrl, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
    const response = await fetchNode(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return (await response.json()) as { result?: unknown; error?: { message: string } };
  } catch (cause) {
    throw new OracleError('CHAIN_UNREACHABLE', `The local chain does not answer: ${getErrorMessage(cause)}`, { cause });
  }
}
