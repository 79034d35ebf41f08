import type { ApiResponses } from '../state/responses.ts';
import { callAll, type RpcCall, type RpcOutcome, RpcUnavailableError, requireResult } from './rpc.ts';

/** EAS is a predeploy on OP Stack chains; these are known to have it. */
const OP_STACK = { ids: [10, 130, 1_868, 8_453, 57_073, 84_532, 11_155_420], eas: '0x4200000000000000000000000000000000000021' };

/** Calls the endpoint after checking that its chain and the attestation contract are those of the record. @throws {RpcUnavailableError} */
export async function callRecordChain(
  { info, endpoint, signal }: { info: Pick<ApiResponses['info'], 'chain' | 'contracts'>; endpoint: string; signal: AbortSignal },
  calls: readonly RpcCall[],
): Promise<RpcOutcome[]> {
  const doubt = explainContractDoubt(info);
  if (doubt !== null) throw new RpcUnavailableError(doubt);
  const { chain } = info;
  const [answer, ...answers] = await callAll(endpoint, [{ method: 'eth_chainId', params: [] }, ...calls], { signal });
  const id = Number(requireResult(answer));
  if (id === chain.id) return answers;
  const its = Number.isSafeInteger(id) && id > 0 ? `of chain ${id}` : 'of an unknown chain';
  throw new RpcUnavailableError(`${new URL(endpoint).host} is ${its}, the record is on chain ${chain.id}`);
}

/** Why the attestation contract that the service names cannot be trusted, or null. An arbitrary contract can return anything. */
export function explainContractDoubt({ chain: { id, local }, contracts }: Pick<ApiResponses['info'], 'chain' | 'contracts'>) {
  const isKnown = OP_STACK.ids.includes(id);
  if (!isKnown && !local) return `the attestation contract of chain ${id} is not known to this page, and the service could name any`;
  if (contracts.eas.toLowerCase() === OP_STACK.eas) return null;
  return `the service names ${contracts.eas.slice(0, 42)} as the attestation contract, but on chain ${id} it is at ${OP_STACK.eas}`;
}
