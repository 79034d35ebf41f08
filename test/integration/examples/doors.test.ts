import { zeroAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXAMPLE_PROGRAMS, environmentOf } from '../../support/example-programs.ts';
import { type ExampleWorld, exampleWorld } from '../../support/example-world.ts';
import { rpcProxy } from '../../support/rpc-proxy.ts';

let world: ExampleWorld;
beforeAll(async () => {
  world = await exampleWorld();
});
afterAll(() => world.close());

let lastOfBuyer: Promise<unknown> = Promise.resolve();
function afterOthersOfBuyer<T>(work: () => Promise<T>): Promise<T> {
  const turn = lastOfBuyer.then(work);
  lastOfBuyer = turn.catch(() => undefined);
  return turn;
}

// Most of their time they wait.
describe.concurrent('a program of examples/', () => {
  it.each(Object.entries(EXAMPLE_PROGRAMS))('%s prints what the service says', async (file, program) => {
    await program.before?.(world);
    const run = async () => world.run(file, await environmentOf(program));
    const { code, output, errors } = await (program.sends ? afterOthersOfBuyer(run) : run());
    expect(code, `${output}\n${errors}`).toBe(0);
    await program.tells(output, world);
  });

  it('rest/oracle.ts says why a wallet gets no token', async () => {
    const { code, errors } = await world.run('rest/oracle.ts', { PRIVATE_KEY: world.keyOf('poor') });
    expect(code).toBe(1);
    expect(errors).toContain('TIER_REQUIRED: ');
  });

  it('purchase/buy.ts pays in no coin but its own', async () => {
    const { code, errors } = await world.run('purchase/buy.ts', { STABLECOIN: zeroAddress });
    expect(code).toBe(1);
    expect(errors).toContain('is sold for a coin that this wallet does not use');
  });
});

/** Where the words of an attestation's data begin in what `getAttestation` answers: behind its ten fields and two lengths. */
const DATA_WORD = 12;
const CONFIDENCE = DATA_WORD + 3;
const COMMITMENT = DATA_WORD + 5;

/** A node that tells one word of each attestation otherwise. */
function lyingNode(word: number) {
  const last = 2 + 64 * (word + 1) - 1;
  const changed = (result: string) => result.slice(0, last) + (result[last] === '0' ? '1' : '0') + result.slice(last + 1);
  return rpcProxy(world.rpcUrl, { onResponse: (_, result) => ({ result: changed(result as string) }) });
}

describe('where the chain has something else', () => {
  it.each([
    ['verify/verify.ts', CONFIDENCE, '✗ what was revealed hashes to what was committed\n'],
    ['verify/verify.sh', COMMITMENT, 'The chain does NOT have this commitment: 0x'],
  ])('%s says so', async (file, word, words) => {
    const node = await lyingNode(word);
    const { code, output, errors } = await world.run(file, { RPC_URL: node.url });
    await node.close();
    expect(code, errors).toBe(1);
    expect(output).toContain(words);
  });
});
