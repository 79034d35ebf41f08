import { z } from 'zod';
import { readJson } from '../../platform/outbound/bounded-json.ts';
import { createOperatorFetch } from '../../platform/outbound/operator-fetch.ts';
import { retryBusy, SIGNER_TIMEOUT_MS, SignerBusy } from './retry-busy.ts';
import { SignerRefusal } from './role-signer.ts';

export type Web3SignerMethod = 'eth_accounts' | 'eth_sign' | 'eth_signTransaction' | 'eth_signTypedData';
export type CallWeb3Signer = (method: Web3SignerMethod, params: readonly unknown[]) => Promise<unknown>;

const MAX_BYTES = 1_048_576;
/** JSON-RPC 2.0, section 5.1. */
const INTERNAL_ERROR = -32_603;
const ANSWER = z.union([z.object({ error: z.object({ code: z.number() }) }), z.object({ result: z.unknown() })]);

/** https://docs.web3signer.consensys.io/reference/api/json-rpc. Rejects with `SignerRefusal`, or with the error of a request without an answer. */
export function createWeb3SignerRpc(url: string, timeoutMs = SIGNER_TIMEOUT_MS): CallWeb3Signer {
  const fetchSigner = createOperatorFetch({ base: url, timeoutMs, maxBytes: MAX_BYTES });
  let id = 0;
  return (method, params) =>
    retryBusy(async () => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params });
      const response = await fetchSigner(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      return readResult(method, response);
    });
}

/** A JSON-RPC error is an answer, whatever its HTTP status is; a status of a failure without one is not. */
async function readResult(method: Web3SignerMethod, response: Response): Promise<unknown> {
  const { status } = response;
  const isBusy = status === 429 || status >= 500;
  const parsed = ANSWER.safeParse(await readJson(response).catch(() => undefined));
  if (!parsed.success) {
    if (isBusy) throw new SignerBusy(`${method}: HTTP status ${status}`);
    throw new SignerRefusal(`${method}: the answer is no JSON-RPC (HTTP status ${status})`);
  }
  if (!('error' in parsed.data)) return parsed.data.result;
  const { code } = parsed.data.error;
  if (isBusy && code === INTERNAL_ERROR) throw new SignerBusy(`${method}: error ${code} (HTTP status ${status})`);
  throw new SignerRefusal(`${method}: error ${code} (HTTP status ${status})`);
}
