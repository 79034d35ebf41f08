import { type Hex, numberToHex, pad, toFunctionSelector } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuditReport, audit } from '../../../../src/audit/audit.ts';
import type { AuditChain, AuditPrices } from '../../../../src/audit/chain-record.ts';
import { openAuditByAddress, openAuditChain } from '../../../../src/cli/svc/audit-options.ts';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';
import { type RpcHooks, type RpcProxy, rpcProxy } from '../../../support/chain/rpc-proxy.ts';
import {
  AUDITED_DAYS,
  AUDITED_HORIZONS,
  closeUsd,
  registerSchemas,
  type WrittenRecord,
  writeRecord,
} from '../../../support/record/audit-record.ts';

let chain: TestChain;
let reader: AuditChain;
beforeAll(async () => {
  chain = await testChain();
  await registerSchemas(chain);
  reader = await openAuditChain({ rpcUrl: chain.rpcUrl });
});
afterAll(async () => {
  await Promise.all(proxies.map((proxy) => proxy.close()));
  await chain.stop();
});

const proxies: RpcProxy[] = [];
const NO_BATCHES = { error: { code: -32600, message: 'no' } };
const NO_SUCH_STATE = { error: { code: -32602, message: 'no state of that block' } };

/** The chain, read through an endpoint that takes one call a request and errs in it. */
async function through({ onRequest, onResponse }: RpcHooks): Promise<AuditChain> {
  const single: RpcHooks = { onRequest: (call) => (call.method === undefined ? NO_BATCHES : onRequest?.(call)), onResponse };
  const proxy = await rpcProxy(chain.rpcUrl, single);
  proxies.push(proxy);
  return openAuditChain({ rpcUrl: proxy.url });
}

function auditThrough(reading: AuditChain, { attester, now }: WrittenRecord): Promise<AuditReport> {
  return audit({ chain: reading, attester, prices: PRICES, claims: null, now });
}

/** Answers with the first answer for ever. */
function replaceBy(isMeant: (result: unknown) => boolean): (result: unknown) => unknown {
  let first: unknown;
  return (result) => {
    if (!isMeant(result)) return result;
    first ??= result;
    return first;
  };
}

function isCallOf(params: unknown[], functionName: 'getNonce'): boolean {
  return (params[0] as { data: Hex }).data.startsWith(toFunctionSelector(`${functionName}(address)`));
}

async function nextBlock(): Promise<number> {
  return Number(await chain.rpc<Hex>('eth_blockNumber')) + 1;
}

const PRICES: AuditPrices = {
  source: 'the prices of the test',
  toleranceBps: 0,
  endsOn: null,
  closes: async (days) => new Map(days.map((day) => [day, closeUsd(day)])),
  history: async () => null,
};

describe('a record read from a later block', () => {
  it('is incomplete when the wallet had transactions before, otherwise complete', async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const start = await nextBlock();
    await writeRecord(chain, { account });
    const restart = await nextBlock();
    const { attester, now } = await writeRecord(chain, { account });
    const look = (fromBlock: number, through = reader) => audit({ chain: through, attester, fromBlock, prices: PRICES, claims: null, now });
    expect(await look(start)).toMatchObject({ verdict: 'differs', incomplete: [] });
    const hidden = await look(restart);
    expect(hidden).toMatchObject({ verdict: 'incomplete', differences: [] });
    expect(hidden.incomplete).toEqual([expect.stringMatching(/from block \d+, and the wallet had sent transactions before it/)]);

    const fresh = await nextBlock();
    const honest = await writeRecord(chain);
    const lookAt = (through: AuditChain) =>
      audit({ chain: through, attester: honest.attester, fromBlock: fresh, prices: PRICES, claims: null, now: honest.now });
    expect(await lookAt(reader)).toMatchObject({ verdict: 'agrees', incomplete: [] });
    // As an archive that keeps no state of old blocks, and as EAS that has counted an attestation which another wallet sent.
    const forgetful = await through({ onRequest: ({ method }) => (method === 'eth_getTransactionCount' ? NO_SUCH_STATE : undefined) });
    expect((await lookAt(forgetful)).incomplete).toEqual([expect.stringContaining('the endpoint has no state before it')]);
    const delegated = await through({
      onRequest: ({ method, params }) => (method === 'eth_call' && isCallOf(params, 'getNonce') ? { result: pad('0x1') } : undefined),
    });
    expect((await lookAt(delegated)).verdict).toBe('incomplete');
  });
});

describe('a contract that is not EAS', () => {
  it('a stored time other than the block time is late', async () => {
    const written = await writeRecord(chain);
    const later = (timestamp: Hex) => numberToHex(Number(timestamp) + 60 * 86_400);
    const reading = await through({
      onResponse: ({ method }, result) =>
        method === 'eth_getLogs'
          ? { result: (result as { blockTimestamp: Hex }[]).map((log) => ({ ...log, blockTimestamp: later(log.blockTimestamp) })) }
          : undefined,
    });
    const { differences } = await auditThrough(reading, written);
    const resolved = AUDITED_HORIZONS.reduce((sum, horizonDays) => sum + AUDITED_DAYS - horizonDays, 0);
    const times = differences.filter(({ check, field }) => check === 'blockTime' && field === 'blockTime');
    expect(times).toHaveLength(AUDITED_HORIZONS.length * AUDITED_DAYS + resolved);
    expect(differences.filter(({ message }) => message.includes('attested late'))).toHaveLength(resolved);
  });

  it('values that do not match the uid', async () => {
    const written = await writeRecord(chain);
    const reading = await through({
      onResponse: ({ method }, result) => {
        const changed = method === 'eth_call' && String(result).endsWith('22222222') && `${String(result).slice(0, -8)}33333333`;
        return changed ? { result: changed } : undefined;
      },
    });
    const { differences } = await auditThrough(reading, written);
    expect(differences.filter(({ check }) => check === 'uid')).toHaveLength(AUDITED_HORIZONS.length * AUDITED_DAYS);
  });

  it('an unknown EAS address is noted', async () => {
    const elsewhere = { ...reader, addresses: { ...reader.addresses, eas: chain.deployer.address } };
    const { notes } = await audit({ chain: elsewhere, attester: chain.deployer.address, prices: PRICES, claims: null, now: new Date() });
    expect(notes.join()).toContain(`read from ${chain.deployer.address}, which is not the EAS address of OP chains`);
    expect((await auditThrough(reader, await writeRecord(chain))).notes.join()).not.toContain('read from');
  });

  it('identical attestations in one block are distinct', async () => {
    const isDoubled = ({ sequence, horizonDays }: { sequence: number; horizonDays: number }) => sequence === 3 && horizonDays === 1;
    const written = await writeRecord(chain, { prediction: (item) => (isDoubled(item) ? [item, item] : [item]) });
    const { differences } = await auditThrough(reader, written);
    expect(differences.map(({ check, sequence }) => ({ check, sequence }))).toEqual([{ check: 'onePrediction', sequence: 3 }]);
  });
});

describe('an endpoint', () => {
  it('without batches and with short ranges is readable', async () => {
    const refusal = { error: { code: -32600, message: 'no' } };
    const asked: number[] = [];
    const written = await writeRecord(chain);
    const limited = await through({
      onRequest: ({ method, params }) => {
        if (method !== 'eth_getLogs') return undefined;
        const [{ fromBlock, toBlock }] = params as { fromBlock: Hex; toBlock: Hex }[];
        asked.push(Number(toBlock) - Number(fromBlock) + 1);
        return asked.at(-1)! > 10 ? refusal : undefined;
      },
    });
    const report = await audit({ chain: limited, attester: written.attester, prices: PRICES, claims: null, now: written.now });
    expect(limited.parallel).toBeLessThan(reader.parallel);
    expect(report.verdict).toBe('agrees');
    expect(Math.max(...asked)).toBeGreaterThan(10);
  });

  it('with repeated or reorganized events is readable', async () => {
    const written = await writeRecord(chain);
    const repeating = await through({
      onResponse: ({ method }, result) => {
        const logs = result as { data: Hex }[];
        if (method !== 'eth_getLogs' || logs.length === 0) return undefined;
        return { result: [...logs, ...logs, { ...logs[0], data: `0x${'ee'.repeat(32)}`, removed: true }] };
      },
    });
    expect(await auditThrough(repeating, written)).toMatchObject({ verdict: 'agrees', differences: [] });
  });

  it.each([
    ['nothing for events', 'eth_getLogs', () => null],
    ['one answer in the place of another', 'eth_call', replaceBy((result) => String(result).length > 1_000)],
    ['another block', 'eth_getBlockByNumber', replaceBy(() => true)],
  ])('with %s in responses throws CHAIN_UNREACHABLE', async (_, asked, answer) => {
    const written = await writeRecord(chain, {}, 2);
    // Blocks are read where events do not name their times, as those of older nodes.
    const withoutTimes = (result: unknown) => (result as object[]).map((log) => ({ ...log, blockTimestamp: undefined }));
    const wrong = await through({
      onResponse: ({ method }, result) => {
        if (method === asked) return { result: answer(result) };
        return method === 'eth_getLogs' ? { result: withoutTimes(result) } : undefined;
      },
    });
    await expect(auditThrough(wrong, written)).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
  });

  it('without contract code throws CHAIN_UNREACHABLE without its URL', async () => {
    await through({ onRequest: ({ method }) => (method === 'eth_getCode' ? NO_SUCH_STATE : undefined) });
    const { url } = proxies.at(-1) as RpcProxy;
    const open = openAuditByAddress({ rpc: `${url}/a-secret-key`, attester: chain.deployer.address }, new Date());
    await expect(open).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE', message: expect.not.stringContaining('a-secret-key') });
  });

  it('is queried in batches', async () => {
    const written = await writeRecord(chain);
    const proxy = await rpcProxy(chain.rpcUrl);
    proxies.push(proxy);
    const batching = await openAuditChain({ rpcUrl: proxy.url });
    const report = await audit({ chain: batching, attester: written.attester, prices: PRICES, claims: null, now: written.now });
    expect(report.verdict).toBe('agrees');
    expect(proxy.counts.get('eth_call')).toBeUndefined();
  });
});
