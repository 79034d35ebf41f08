import { zeroHash } from 'viem';
import { EAS_ADDRESS } from '../../../chain/addresses.ts';
import { isPlainObject } from '../../../platform/validation/plain-object.ts';
import { type AttestingRequest, listAttestationSlots } from './attestation-slots.ts';
import type { NodeResponse, NodeSocket } from './node-socket.ts';

/**
 * Anvil reads each slot that no block has written from the empty chain, one after the other, and each execution waits for all of them: some 60 for
 * the attestations of a day, in the estimate, in its check and in the block. They follow from the content and the time of the block, and are set
 * to zero, which they are, before the estimate.
 */
export interface NewSlots {
  /** `call` of the node, with the new slots of an estimated transaction set before. */
  call: NodeSocket['call'];
  /**
   * The next block has this time (Unix seconds), which no block has yet, so that none of its attestations exists. Another process that attested
   * in it would not be seen, and its attestations lost.
   */
  expectBlockAt(time: number): void;
  /** From now on a block may have that time, and attestations that must be kept: resolves once the node sets nothing any more. */
  forget(): Promise<void>;
}

export function createNewSlots(node: () => Pick<NodeSocket, 'call' | 'batch'>): NewSlots {
  let time: number | undefined;
  let settled = Promise.resolve();

  /** An error response is ignored: without the slots the estimate is as right, and takes longer. */
  async function setNewSlots(params: unknown): Promise<void> {
    const request = getSimulatedRequest(params);
    if (time === undefined || request === null) return;
    const slots = listAttestationSlots(request, time);
    if (slots.length === 0) return;
    const set = node().batch(slots.map((slot) => ['anvil_setStorageAt', [EAS_ADDRESS, slot, zeroHash]]));
    // A caller may give up an estimate that takes long, and send all the same.
    settled = Promise.allSettled([settled, set]).then(() => undefined);
    await set;
  }

  return {
    async call(method, params): Promise<NodeResponse> {
      if (method !== 'eth_simulateV1') return node().call(method, params);
      const [, response] = await Promise.all([setNewSlots(params), node().call(method, params)]);
      return response;
    },
    expectBlockAt(next) {
      time = next;
    },
    forget() {
      time = undefined;
      return settled;
    },
  };
}

/** The request of an estimate to EAS, by `estimateGas`. */
function getSimulatedRequest(params: unknown): AttestingRequest | null {
  const [{ blockStateCalls: [{ calls: [request] = [] } = {}] = [] } = {}] = params as { blockStateCalls?: { calls?: unknown[] }[] }[];
  if (!isPlainObject(request)) return null;
  const { from, to, data } = request;
  const isText = typeof from === 'string' && typeof data === 'string' && typeof to === 'string';
  return isText && to.toLowerCase() === EAS_ADDRESS
    ? { from: from as AttestingRequest['from'], data: data as AttestingRequest['data'] }
    : null;
}
