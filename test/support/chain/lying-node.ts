import { rpcProxy } from './rpc-proxy.ts';

/** Where the words of an attestation's data begin in what `getAttestation` answers: behind its ten fields and two lengths. */
export const DATA_WORD = 12;
/** Of a prediction. */
export const RESOLVES_AT = DATA_WORD + 4;

/** A node that alters one word of each attestation of the node behind it. */
export function lyingNode(rpcUrl: string, word: number) {
  const last = 2 + 64 * (word + 1) - 1;
  const changed = (result: string) => result.slice(0, last) + (result[last] === '0' ? '1' : '0') + result.slice(last + 1);
  const isAttestation = (result: unknown): result is string => typeof result === 'string' && result.length > last;
  return rpcProxy(rpcUrl, {
    // A batch would pass as it is; without one, clients ask for each by itself.
    onRequest: (call) => (Array.isArray(call) ? 'drop' : undefined),
    onResponse: (_, result) => (isAttestation(result) ? { result: changed(result) } : undefined),
  });
}
