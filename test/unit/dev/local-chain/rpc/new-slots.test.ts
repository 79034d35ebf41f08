import { encodeFunctionData, type Hex, zeroAddress, zeroHash } from 'viem';
import { beforeEach, describe, expect, it } from 'vitest';
import { EAS_ADDRESS } from '../../../../../src/chain/addresses.ts';
import { easAbi } from '../../../../../src/chain/eas/abi.ts';
import { listAttestationSlots } from '../../../../../src/dev/local-chain/rpc/attestation-slots.ts';
import { createNewSlots, type NewSlots } from '../../../../../src/dev/local-chain/rpc/new-slots.ts';

const TIME = 1_800_000_000;
const item = {
  recipient: zeroAddress,
  expirationTime: 0n,
  revocable: false,
  refUID: zeroHash,
  data: `0x${'01'.repeat(64)}`,
  value: 0n,
} as const;
const data = encodeFunctionData({ abi: easAbi, functionName: 'multiAttest', args: [[{ schema: zeroHash, data: [item] }]] });
const from: Hex = `0x${'5'.repeat(40)}`;

let sent: string[];
let slots: NewSlots;
let nodeAnswers: PromiseWithResolvers<void>;
beforeEach(() => {
  sent = [];
  nodeAnswers = Promise.withResolvers();
  nodeAnswers.resolve();
  slots = createNewSlots(() => ({
    call: async (method) => {
      sent.push(method);
      return { result: '0x1' };
    },
    batch: async (calls) => {
      for (const [method, params] of calls) sent.push(`${method} ${(params as unknown[])[1]}`);
      await nodeAnswers.promise;
      return calls.map(() => ({ result: true }));
    },
  }));
});
const estimate = (request: object) => slots.call('eth_simulateV1', [{ blockStateCalls: [{ calls: [request] }] }, 'pending']);

describe('the new slots of an estimated attestation', () => {
  it('are set before it, for the expected time of the block', async () => {
    slots.expectBlockAt(TIME);
    expect(await estimate({ from, to: EAS_ADDRESS, data })).toEqual({ result: '0x1' });
    const expected = listAttestationSlots({ from, data }, TIME);
    expect(expected).toHaveLength(9);
    expect(sent).toEqual([...expected.map((slot) => `anvil_setStorageAt ${slot}`), 'eth_simulateV1']);
  });

  it('are left alone once a block may have that time, or none is expected', async () => {
    await estimate({ from, to: EAS_ADDRESS, data });
    slots.expectBlockAt(TIME);
    await slots.forget();
    await estimate({ from, to: EAS_ADDRESS, data });
    expect(sent).toEqual(['eth_simulateV1', 'eth_simulateV1']);
  });

  it('are all set before a write is sent, also when the estimate was given up', async () => {
    nodeAnswers = Promise.withResolvers();
    slots.expectBlockAt(TIME);
    const estimated = estimate({ from, to: EAS_ADDRESS, data });
    let mayWrite = false;
    const forgotten = slots.forget().then(() => (mayWrite = true));
    await new Promise(setImmediate);
    expect(mayWrite).toBe(false);
    nodeAnswers.resolve();
    await Promise.all([forgotten, estimated]);
    expect(mayWrite).toBe(true);
  });

  it.each([
    { what: 'another contract', request: { from, to: zeroAddress, data } },
    { what: 'another function', request: { from, to: EAS_ADDRESS, data: '0x12345678' } },
    { what: 'a deployment', request: { from, data } },
    { what: 'a request without a sender', request: { to: EAS_ADDRESS, data } },
  ])('are none for $what', async ({ request }) => {
    slots.expectBlockAt(TIME);
    await estimate(request);
    expect(sent).toEqual(['eth_simulateV1']);
  });
});
