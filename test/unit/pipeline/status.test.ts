import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect, it } from 'vitest';
import { composeSignerHealth } from '../../../src/app/chain.ts';
import type { RoleSigner } from '../../../src/chain/signers.ts';
import type { WalletRole } from '../../../src/chain/wallet.ts';
import { OracleError } from '../../../src/errors.ts';
import { checkReadiness, type ReadinessDeps } from '../../../src/pipeline/status.ts';
import { timeAt } from '../../support/clock/trusted-time.ts';

const NOW = new Date('2026-08-20T21:36:00Z');
const MINUTE_S = 60;

/** Of a process that lacks nothing, on a chain whose newest block has that age. */
function buildDeps({ ageSeconds = 0, localChain = true, isStale = false }): ReadinessDeps {
  const getBlock = async () => ({ number: 7n, timestamp: BigInt(NOW.getTime() / 1000 - ageSeconds) });
  return {
    ...{ chain: { client: { getBlock } }, localChain, record: { known: { isStale } }, time: timeAt(NOW.getTime()) },
    ...{ now: () => NOW, setup: () => null, pingDatabase: async () => {} },
    market: { coverage: async () => ({ firstDay: 0, lastDay: 1 }) },
  } as unknown as ReadinessDeps;
}

async function chainCheck(ageSeconds: number, localChain: boolean) {
  const checks = await checkReadiness(buildDeps({ ageSeconds, localChain }));
  expect(checks.filter(({ name }) => name !== 'chain').every(({ ok }) => ok)).toBe(true);
  return checks.find(({ name }) => name === 'chain');
}

it('is not ready where changes of the record may be missing', async () => {
  expect((await checkReadiness(buildDeps({ isStale: true }))).filter(({ ok }) => !ok)).toEqual([
    { name: 'record', ok: false, detail: expect.stringMatching(/^changes of the last \d+ s or more are not known$/) },
  ]);
});

it('names the role whose signer does not answer', async () => {
  const deps = buildDeps({});
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
    expect((await checkReadiness({ ...deps, checkSigners })).at(-1)).toEqual({ name: 'signers', ok: false, detail });
  expect(pings).toBe(1);
  const up = composeSignerHealth({ ...local, reporter: remote('reporter', async () => undefined) }, () => NOW);
  expect((await checkReadiness({ ...deps, checkSigners: up })).at(-1)).toEqual({ name: 'signers', ok: true, detail: 'answer: reporter' });
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
