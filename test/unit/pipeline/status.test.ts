import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect, it } from 'vitest';
import { composeSignerHealth } from '../../../src/app/chain.ts';
import type { RoleSigner } from '../../../src/chain/signers.ts';
import type { WalletRole } from '../../../src/chain/wallet.ts';
import type { Context } from '../../../src/context.ts';
import { OracleError } from '../../../src/errors.ts';
import { checkReadiness } from '../../../src/pipeline/status.ts';
import { timeAt } from '../../support/clock/trusted-time.ts';

const NOW = new Date('2026-08-20T21:36:00Z');
const MINUTE_S = 60;

/** Of a process that lacks nothing, on a chain whose newest block has that age. */
function contextWith({ ageSeconds = 0, localChain = true, isStale = false }): Context {
  const getBlock = async () => ({ number: 7n, timestamp: BigInt(NOW.getTime() / 1000 - ageSeconds) });
  return {
    ...{ chain: { client: { getBlock } }, config: { chainMode: localChain ? 'own' : 'real' }, record: { known: { isStale } } },
    ...{ now: () => NOW, time: timeAt(NOW.getTime()), database: { ping: async () => {} } },
    market: { coverage: async () => ({ firstDay: 0, lastDay: 1 }) },
  } as unknown as Context;
}

const check = (context: Context, checkSigners: (() => Promise<string>) | null = null) => checkReadiness(context, () => null, checkSigners);

async function chainCheck(ageSeconds: number, localChain: boolean) {
  const checks = await check(contextWith({ ageSeconds, localChain }));
  expect(checks.filter(({ name }) => name !== 'chain').every(({ ok }) => ok)).toBe(true);
  return checks.find(({ name }) => name === 'chain');
}

it('is not ready where changes of the record may be missing', async () => {
  expect((await check(contextWith({ isStale: true }))).filter(({ ok }) => !ok)).toEqual([
    { name: 'record', ok: false, detail: expect.stringMatching(/^changes of the last \d+ s or more are not known$/) },
  ]);
});

it('names the role whose signer does not answer', async () => {
  const context = contextWith({});
  const account = privateKeyToAccount(generatePrivateKey());
  let pings = 0;
  const remote = (role: WalletRole, ping: RoleSigner['ping']): RoleSigner => ({ role, account, ping });
  const down = () => {
    pings++;
    return Promise.reject(new OracleError('SIGNER_UNAVAILABLE', 'The signer of the reporter does not answer'));
  };
  const local = { attester: remote('attester', null), provider: remote('provider', null), facilitator: null };
  expect(composeSignerHealth({ ...local, reporter: remote('reporter', null) }, () => NOW)).toBeNull();
  const checkSigners = composeSignerHealth({ ...local, reporter: remote('reporter', down) }, () => NOW);
  const detail = 'The signer of the reporter does not answer';
  for (let round = 0; round < 3; round++)
    expect((await check(context, checkSigners)).at(-1)).toEqual({ name: 'signers', ok: false, detail });
  expect(pings).toBe(1);
  const up = composeSignerHealth({ ...local, reporter: remote('reporter', async () => undefined) }, () => NOW);
  expect((await check(context, up)).at(-1)).toEqual({ name: 'signers', ok: true, detail: 'answer: reporter' });
});

it('a stalled node is not ready, unless the chain is local', async () => {
  const detail = expect.stringContaining('block 7 is 6 minutes old');
  expect(await chainCheck(6 * MINUTE_S, false)).toEqual({ name: 'chain', ok: false, detail });
  for (const [ageSeconds, local] of [
    [5 * MINUTE_S, false],
    [-2, false],
    [6 * MINUTE_S, true],
  ] as const) {
    expect(await chainCheck(ageSeconds, local)).toEqual({ name: 'chain', ok: true, detail: 'block 7' });
  }
});
