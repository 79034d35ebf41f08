import { toEventSelector } from 'viem';
import { type ChainRequest, toHexNumber } from './blocks.ts';
import { callAll, type RpcOutcome, RpcResponseTooLargeError, RpcUnavailableError, requireResult } from './rpc.ts';

/** Block range limits of public endpoints for `eth_getLogs`, and the smallest range worth a call. */
const MAX_BLOCKS_PER_CALL = 10_000;
const MIN_BLOCKS_PER_CALL = 500;
const MAX_CALLS = 24;
const ATTESTED = toEventSelector('Attested(address,address,bytes32,bytes32)');
const UID_PATTERN = /^0x[0-9a-f]{64}$/i;

/**
 * Uids of `Attested` events of a wallet and schema in block order; stops once there are more than `most`.
 * @param range first and last block
 * @throws {RpcUnavailableError}
 */
export async function listAttestedUids(
  { from, to, eas, attester, schema, most }: { from: number; to: number; eas: string; attester: string; schema: string; most: number },
  request: ChainRequest,
): Promise<string[]> {
  const topics = [ATTESTED, null, `0x${attester.slice(2).padStart(64, '0')}`, schema];
  const uids = [];
  let [blocks, requests] = [MAX_BLOCKS_PER_CALL, 0];
  for (let at = from; at <= to && uids.length <= most; ) {
    if (++requests > MAX_CALLS) throw new RpcUnavailableError(`it reads no more than ${blocks} blocks at once`);
    const end = Math.min(to, at + blocks - 1);
    const filter = { address: eas, topics, fromBlock: toHexNumber(at), toBlock: toHexNumber(end) };
    const answer = await fetchLogs(filter, request);
    const half = Math.ceil((end - at + 1) / 2);
    // A response can be too large even for few blocks when a wallet attests without limit.
    if (answer === null ? half < end - at + 1 : 'problem' in answer && half >= MIN_BLOCKS_PER_CALL) {
      blocks = half;
    } else {
      uids.push(...parseUids(requireResult(answer ?? { problem: 'its response is too large' })));
      at = end + 1;
    }
  }
  return uids;
}

/** @returns null when the response is too large */
async function fetchLogs(filter: object, { endpoint, signal }: ChainRequest): Promise<RpcOutcome | null> {
  try {
    return (await callAll(endpoint, [{ method: 'eth_getLogs', params: [filter] }], { signal }))[0];
  } catch (error) {
    if (error instanceof RpcResponseTooLargeError) return null;
    throw error;
  }
}

function parseUids(logs: unknown): string[] {
  if (!Array.isArray(logs)) throw new RpcUnavailableError('its logs are not a list');
  return logs.map((log) => {
    if (typeof log?.data !== 'string' || !UID_PATTERN.test(log.data)) throw new RpcUnavailableError('one of its logs names no attestation');
    return log.data.toLowerCase();
  });
}
