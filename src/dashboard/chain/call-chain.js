import { callAll, RpcUnavailableError, requireResult } from './rpc.js';

/** @import { ApiResponses } from '../state/responses.ts' */
/** @import { RpcOutcome, RpcCall } from './rpc.js' */

/** The Ethereum Attestation Service is at the same place on every chain of the OP Stack; these are known to have it. */
const OP_STACK = { ids: [10, 130, 1_868, 8_453, 57_073, 84_532, 11_155_420], eas: '0x4200000000000000000000000000000000000021' };

/**
 * What an endpoint answers to calls, where the contract is the one that cannot be another, and the endpoint of the chain of the record.
 * @param {{ info: Pick<ApiResponses['info'], 'chain' | 'contracts'>, endpoint: string, signal: AbortSignal }} asked
 * @param {readonly RpcCall[]} calls
 * @returns {Promise<RpcOutcome[]>}
 * @throws {RpcUnavailableError}
 */
export async function callRecordChain({ info, endpoint, signal }, calls) {
  const doubt = explainContractDoubt(info);
  if (doubt !== null) throw new RpcUnavailableError(doubt);
  const { chain } = info;
  const [answer, ...answers] = await callAll(endpoint, [{ method: 'eth_chainId', params: [] }, ...calls], { signal });
  const id = Number(requireResult(answer));
  if (id === chain.id) return answers;
  const its = Number.isSafeInteger(id) && id > 0 ? `of chain ${id}` : 'of no chain that it could name';
  throw new RpcUnavailableError(`${new URL(endpoint).host} is ${its}, the record is on chain ${chain.id}`);
}

/**
 * Whoever writes a contract can have it say anything: why the one that the service names may be another than that of EAS, or null.
 * @param {Pick<ApiResponses['info'], 'chain' | 'contracts'>} info
 */
export function explainContractDoubt({ chain: { id, local }, contracts }) {
  const isKnown = OP_STACK.ids.includes(id);
  if (!isKnown && !local) return `where the attestation contract of chain ${id} is, this page does not know, and the service may name any`;
  if (contracts.eas.toLowerCase() === OP_STACK.eas) return null;
  return `the service names ${contracts.eas.slice(0, 42)} as the attestation contract, which on chain ${id} is at ${OP_STACK.eas}`;
}
