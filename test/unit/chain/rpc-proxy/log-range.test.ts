import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exceedsBlockLimit, MAX_LOG_BLOCKS, needsHead } from '../../../../src/chain/rpc-proxy.ts';

const HASH = `0x${'b2'.repeat(32)}`;
const logs = (filter: object) => ({ method: 'eth_getLogs' as const, params: [filter] });
const hex = (block: number) => `0x${block.toString(16)}`;

describe('the range of eth_getLogs', () => {
  it('accepts up to the maximum number of blocks at any height', () => {
    const most = Number(MAX_LOG_BLOCKS);
    fc.assert(
      fc.property(fc.nat(1e9), fc.nat(3 * most), (from, blocks) => {
        const range = logs({ fromBlock: hex(from), toBlock: hex(from + blocks) });
        expect(exceedsBlockLimit(range, 0n)).toBe(blocks >= most);
        expect(needsHead(range)).toBe(false);
        const toHead = logs({ fromBlock: hex(from) });
        expect(exceedsBlockLimit(toHead, BigInt(from + blocks))).toBe(blocks >= most);
        expect(needsHead(toHead)).toBe(true);
      }),
    );
  });

  it.each([
    [{}, false, false],
    [{ fromBlock: 'latest', toBlock: 'pending' }, false, false],
    [{ fromBlock: 'earliest', toBlock: 'latest' }, true, true],
    [{ fromBlock: 'earliest', toBlock: '0x10' }, false, false],
    [{ fromBlock: 'earliest', toBlock: hex(Number(MAX_LOG_BLOCKS)) }, false, true],
    [{ blockHash: HASH }, false, false],
    [{ fromBlock: 'latest', toBlock: '0x0' }, true, false],
  ])('%j is measured by what it means', (filter, head, tooLong) => {
    expect(needsHead(logs(filter))).toBe(head);
    expect(exceedsBlockLimit(logs(filter), MAX_LOG_BLOCKS + 5n)).toBe(tooLong);
  });

  it('does not apply to other methods', () => {
    const call = { method: 'eth_getBlockByNumber' as const, params: ['0x0', false] };
    expect([needsHead(call), exceedsBlockLimit(call, 1n << 60n)]).toEqual([false, false]);
  });
});
