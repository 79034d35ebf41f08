import fc from 'fast-check';
import { encodeFunctionData, type Hex, multicall3Abi } from 'viem';
import { describe, expect, it } from 'vitest';
import { MULTICALL3_ADDRESS } from '../../../src/chain/addresses.ts';
import {
  createPrioritySemaphore,
  exceedsBlockLimit,
  JSON_RPC_ERROR_CODES,
  MAX_LOG_BLOCKS,
  needsHead,
  parseCall,
  priceCall,
  READ_METHOD_NAMES,
  type ReadOnlyCall,
} from '../../../src/chain/rpc-proxy.ts';

describe('json rpc', () => {
  const ADDRESS = `0x${'a1'.repeat(20)}`;
  const HASH = `0x${'b2'.repeat(32)}`;

  const call = (method: string, params?: unknown, id: unknown = 7) => parseCall({ jsonrpc: '2.0', id, method, params });

  describe('a read-only call', () => {
    it.each([
      ['eth_chainId', []],
      ['eth_blockNumber', []],
      ['eth_getCode', [ADDRESS, '0x10']],
      ['eth_getBalance', [ADDRESS]],
      ['eth_getBlockByNumber', ['earliest', true]],
      ['eth_getBlockByHash', [HASH, false]],
      ['eth_getLogs', [{ address: [ADDRESS], topics: [null, [HASH], HASH], fromBlock: '0x0', toBlock: 'latest' }]],
      ['eth_getTransactionByHash', [HASH]],
      ['eth_getTransactionReceipt', [HASH]],
    ])('%s is passed on as it is', (method, params) => {
      expect(READ_METHOD_NAMES).toContain(method);
      expect(call(method, params)).toEqual({ id: 7, method, params });
    });

    it('may omit params when the method takes none', () => {
      expect(call('eth_blockNumber')).toEqual({ id: 7, method: 'eth_blockNumber', params: [] });
    });

    it('is stripped of fields that a read does not need', () => {
      const tx = { to: ADDRESS, data: '0x01', gas: '0xffffffff', gasPrice: '0x1', accessList: [], nonce: '0x0' };
      expect(call('eth_call', [tx])).toEqual({ id: 7, method: 'eth_call', params: [{ to: ADDRESS, data: '0x01', gas: '0xffffffff' }] });
    });
  });

  describe('the price of a call', () => {
    const KNOWN = `0x${'C3'.repeat(20)}`;
    const price = (method: string, params: unknown[]) => priceCall(call(method, params) as ReadOnlyCall, new Set([KNOWN.toLowerCase()]));
    const priceTx = (tx: object) => {
      const { units, call: priced } = price('eth_call', [tx, 'latest']);
      const [{ gas }, block] = priced.params as [{ gas: string }, string];
      expect(block).toBe('latest');
      return { units, gas: Number(gas) };
    };
    const aggregate = (targets: readonly string[]) =>
      encodeFunctionData({
        abi: multicall3Abi,
        functionName: 'aggregate3',
        args: [targets.map((target) => ({ target: target.toLowerCase() as Hex, allowFailure: false, callData: '0x01' as const }))],
      });

    it.each([
      ['eth_chainId', [], 0.02],
      ['eth_getBlockByNumber', ['latest', false], 0.02],
      ['eth_getBlockByNumber', ['latest', true], 0.1],
      ['eth_getCode', [ADDRESS], 0.1],
      ['eth_getTransactionReceipt', [HASH], 0.1],
      ['eth_getLogs', [{ address: ADDRESS }], 0.5],
    ] as const)('%s %j is %d units', (method, params, units) => {
      expect(price(method, [...params]).units).toBe(units);
    });

    it.each([
      ['of any contract', { to: ADDRESS }, 1, 2_000_000],
      ['of any contract, with the gas that it names', { to: ADDRESS, gas: '0xf4240' }, 0.5, 1_000_000],
      ['of a precompile, with more gas than any call gets', { to: `0x${'0'.repeat(39)}5`, gas: '0xffffffffff' }, 5, 10_000_000],
      ['of a contract of the record', { to: KNOWN }, 0.05, 1_000_000],
      ['of a contract of the record, with little gas', { to: KNOWN, gas: '0x7530' }, 0.02, 30_000],
      ['of contracts of the record at once', { to: MULTICALL3_ADDRESS, data: aggregate([KNOWN, KNOWN]) }, 0.5, 10_000_000],
      [
        'of many contracts of the record with little gas',
        { to: MULTICALL3_ADDRESS, input: aggregate(Array(100).fill(KNOWN)), gas: '0x30d40' },
        0.5,
        200_000,
      ],
      ['of any contract beside those of the record', { to: MULTICALL3_ADDRESS, data: aggregate([KNOWN, ADDRESS]) }, 1, 2_000_000],
      ['of no contract at once', { to: MULTICALL3_ADDRESS, data: aggregate([]) }, 1, 2_000_000],
      ['at once, in another form', { to: MULTICALL3_ADDRESS, data: `${aggregate([KNOWN]).slice(0, 12)}00` }, 1, 2_000_000],
    ])('eth_call %s', (_, tx, units, gas) => {
      expect(priceTx(tx)).toEqual({ units, gas });
    });

    it('is that of what the node runs, where data and input differ', () => {
      const tx = { to: MULTICALL3_ADDRESS, data: aggregate([KNOWN]), input: aggregate([ADDRESS]) };
      const { units, call: priced } = price('eth_call', [tx]);
      expect(units).toBe(1);
      expect(priced.params).toEqual([{ to: MULTICALL3_ADDRESS, data: aggregate([ADDRESS]), gas: expect.any(String) }]);
    });
  });

  describe('a rejected call', () => {
    it.each([
      ...['anvil_setBalance', 'anvil_impersonateAccount', 'evm_mine', 'evm_snapshot', 'hardhat_reset', 'debug_traceTransaction'],
      ...['eth_sendRawTransaction', 'eth_sendTransaction', 'eth_sign', 'eth_accounts', 'txpool_content', 'personal_sign'],
      ...['ETH_CALL', 'eth_call ', '__proto__', 'constructor', 'toString', ''],
    ])('for its method: %s', (method) => {
      const { error } = call(method, []) as { error: { code: number; message: string } };
      expect(error.code).toBe(JSON_RPC_ERROR_CODES.methodNotFound);
      expect(error.message).toContain('eth_getLogs');
    });

    it.each([
      ['eth_call', [{ to: ADDRESS }, 'latest', { [ADDRESS]: { balance: '0x1' } }], 'overrides of the state are not served'],
      ['eth_call', [{ data: '0x60' }, 'latest'], 'params.0.to is missing'],
      ['eth_call', [{ to: ADDRESS }, { blockHash: HASH }], 'params.1 must be the number of a block'],
      ['eth_call', [{ to: ADDRESS, data: '0x123' }], 'params.0.data must be 0x and whole bytes'],
      ['eth_getCode', ['0x1'], 'params.0 must be an address'],
      ['eth_getBlockByNumber', ['-0x1'], 'params.0 must be the number of a block'],
      ['eth_getBlockByNumber', [`0x${'1'.repeat(17)}`], 'params.0 must be the number of a block'],
      ['eth_getLogs', [{ topics: [HASH, HASH, HASH, HASH, HASH] }], 'params.0.topics is'],
      ['eth_getLogs', [{ address: Array(21).fill(ADDRESS) }], 'params.0.address is'],
      ['eth_getTransactionByHash', [], 'params is missing'],
      ['eth_chainId', {}, 'params is'],
      ['eth_chainId', ['latest'], 'more parameters than it takes'],
    ])('for the parameters of %s: %j', (method, params, problem) => {
      const { id, error } = call(method, params) as { id: number; error: { code: number; message: string } };
      expect(id).toBe(7);
      expect(error).toMatchObject({ code: JSON_RPC_ERROR_CODES.invalidParams, message: expect.stringContaining(problem) });
    });

    it.each([
      [null],
      [[]],
      ['eth_chainId'],
      [{ id: 1, method: 'eth_chainId' }],
      [{ jsonrpc: '1.0', id: 1, method: 'eth_chainId' }],
      [{ jsonrpc: '2.0', id: 1 }],
      [{ jsonrpc: '2.0', method: 'eth_chainId' }],
      [{ jsonrpc: '2.0', id: 'x'.repeat(129), method: 'eth_chainId' }],
      [{ jsonrpc: '2.0', id: {}, method: 'eth_chainId' }],
    ])('since it is none: %j', (value) => {
      expect(parseCall(value)).toMatchObject({ jsonrpc: '2.0', error: { code: JSON_RPC_ERROR_CODES.invalidRequest } });
    });

    it('returns a short error that does not quote the input', () => {
      const marked = fc.string({ minLength: 1, maxLength: 300 }).map((text) => `<mark>${text}`);
      const methods = fc.oneof(fc.constantFrom(...READ_METHOD_NAMES), marked);
      fc.assert(
        fc.property(methods, fc.oneof(fc.array(fc.oneof(marked, fc.jsonValue())), fc.jsonValue()), (method, params) => {
          const read = call(method, params);
          if ('method' in read) return;
          expect(read.error!.message).not.toContain('<mark>');
          expect(read.error!.message.length).toBeLessThan(400);
        }),
      );
    });
  });
});

describe('log range', () => {
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
});

const never = new AbortController().signal;

/** Work that goes on until it is ended. */
function work(log: string[], name: string) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const run = () => {
    log.push(name);
    return promise;
  };
  return { run, end: resolve, fail: reject };
}

describe('priority semaphore', () => {
  it('runs up to the limit concurrently and the rest in order, also after a failure', async () => {
    const runQueued = createPrioritySemaphore({ atOnce: 2, waiting: 10 });
    const begun: string[] = [];
    const works = ['a', 'b', 'c', 'd'].map((name) => work(begun, name));
    const ended = works.map(({ run }) => runQueued(run, never).catch(() => 'failed'));
    expect(begun).toEqual(['a', 'b']);
    works[1].fail(new Error('no'));
    expect(await ended[1]).toBe('failed');
    expect(begun).toEqual(['a', 'b', 'c']);
    works[0].end();
    await ended[0];
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    works[2].end();
    works[3].end();
    await Promise.all(ended);
    await runQueued(async () => begun.push('e'), never);
    expect(begun).toHaveLength(5);
  });

  it('rejects immediately when the queue is full', async () => {
    const runQueued = createPrioritySemaphore({ atOnce: 1, waiting: 1 });
    const first = work([], 'a');
    const [one, two] = [runQueued(first.run, never), runQueued(async () => 'done', never)];
    await expect(runQueued(async () => 'done', never)).rejects.toThrow('too many wait');
    first.end();
    await one;
    expect(await two).toBe('done');
  });

  it('removes aborted work from the queue without affecting other work', async () => {
    const runQueued = createPrioritySemaphore({ atOnce: 1, waiting: 5 });
    const begun: string[] = [];
    const first = work(begun, 'a');
    const impatient = new AbortController();
    const one = runQueued(first.run, never);
    const two = runQueued(async () => begun.push('b'), impatient.signal);
    const three = runQueued(async () => begun.push('c'), never);
    impatient.abort(new Error('enough'));
    await expect(two).rejects.toThrow('enough');
    first.end();
    await Promise.all([one, three]);
    expect(begun).toEqual(['a', 'c']);
    await expect(runQueued(async () => 'done', impatient.signal)).rejects.toThrow('enough');
    expect(await runQueued(async () => 'done', never)).toBe('done');
  });
});
