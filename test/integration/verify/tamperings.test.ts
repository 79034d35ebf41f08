import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestChain, testChain } from '../../support/chain/chain.ts';
import { type RpcProxy, rpcProxy } from '../../support/chain/rpc-proxy.ts';
import { registerSchemas, type WrittenRecord, writeRecord } from '../../support/record/audit-record.ts';
import { ALL_VERIFIERS, findUids, HORIZON, INDEX, lieAbout, PLANTED } from '../../support/record/planted.ts';
import { VERIFIERS, type Verified, type Verifier } from '../../support/record/verifiers.ts';

let chain: TestChain;
let proxy: RpcProxy;
beforeAll(async () => {
  chain = await testChain();
  await registerSchemas(chain);
  proxy = await rpcProxy(chain.rpcUrl);
});
afterAll(async () => {
  await proxy.close();
  await chain.stop();
});

let honest: { written: WrittenRecord; uids: Verified['uids'] };
beforeAll(async () => {
  const written = await writeRecord(chain);
  honest = { written, uids: await findUids(chain.rpcUrl, written) };
});

async function verifyBy(by: Verifier, { written, uids }: typeof honest, rpcUrl: string): Promise<string[]> {
  const { attester, now, firstDay } = written;
  return VERIFIERS[by]({ rpcUrl, attester, now, place: { firstDay, index: INDEX, horizonDays: HORIZON }, uids });
}

it.each(ALL_VERIFIERS)('an honest record passes by %s', async (by) => {
  proxy.hooks = lieAbout(honest.uids.prediction, (raw) => raw);
  expect(await verifyBy(by, honest, chain.rpcUrl)).toEqual([]);
  expect(await verifyBy(by, honest, proxy.url)).toEqual([]);
});

describe.each(PLANTED)('$what fails $check', ({ check, record, lie, by = ALL_VERIFIERS }) => {
  let planted: typeof honest;
  beforeAll(async () => {
    planted = honest;
    if (record === undefined) return;
    const written = await writeRecord(chain, record, INDEX + 2);
    planted = { written, uids: check === 'sequence' ? honest.uids : await findUids(chain.rpcUrl, written) };
  });

  it.each(by)('by %s', async (verifier) => {
    if (lie !== undefined) proxy.hooks = lieAbout(planted.uids[lie.about], lie.change);
    expect(await verifyBy(verifier, planted, lie === undefined ? chain.rpcUrl : proxy.url)).toContain(check);
  });
});
