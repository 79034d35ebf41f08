import { createServer } from 'node:http';
import { zeroAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseTarget } from '../../../src/platform/outbound/guarded.ts';
import { DATA_WORD, lyingNode, RESOLVES_AT } from '../../support/chain/broken-endpoint.ts';
import { describeTypescriptClient, describeTypescriptPayments } from '../../support/clients/typescript-suite.ts';
import { EXAMPLE_PROGRAMS, environmentOf } from '../../support/docs/example-programs.ts';
import { type ExampleWorld, exampleWorld } from '../../support/docs/example-world.ts';
import { findPython, PYTHON_SUITES, runPythonSuite, type Signer, startSigner } from '../../support/docs/python-client.ts';
import { listening } from '../../support/webhooks/receiver.ts';

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

/** The MCP client library hands `LD_PRELOAD` on to no child, so that a child of these would not see a shifted clock. */
const STARTING_SERVERS = ['mcp/stdio.ts'];
const isClockShifted = process.env.FAKETIME !== undefined;
const programs = Object.entries(EXAMPLE_PROGRAMS).filter(([file]) => !isClockShifted || !STARTING_SERVERS.includes(file));

// Most of their time they wait.
describe.concurrent('a program of examples/', () => {
  it.each(programs)('%s prints what the service says', async (file, program) => {
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

describe('clients/typescript', () => {
  describeTypescriptClient(() => world);
  describeTypescriptPayments(() => world);
});

const python = findPython();

describe.skipIf(python === null)(
  `clients/python and the programs of bots${python === null ? ' (skipped: python3 3.9 or later is not installed)' : ''}`,
  () => {
    let signer: Signer;
    beforeAll(async () => {
      signer = await startSigner(world);
    });
    afterAll(() => signer.close());

    const passes = async (suite: string) => {
      const { code, errors } = await runPythonSuite(python!, suite, { world, signer });
      expect(code, errors).toBe(0);
      // Nothing was skipped.
      expect(errors).toMatch(/^OK$/m);
    };

    describe.concurrent('their tests by unittest, at the service', () => {
      it.each(PYTHON_SUITES)('%s passes', passes);

      it.for([
        ['tests.test_stream', 'websockets', python?.hasWebsockets],
        ['test_freqtrade_frames', 'pandas', python?.hasPandas],
        ['test_freqtrade_backtest', 'pandas', python?.hasPandas],
      ] as const)('%s passes, with the Python package %s', async ([suite, name, isInstalled], { skip }) => {
        skip(!isInstalled, `${name} is not installed`);
        await passes(suite);
      });
    });
  },
);

it('webhooks/webhooks.sh ends with the answer of a service that does not call this machine', async () => {
  const usual = createServer((_, response) => {
    try {
      parseTarget('http://127.0.0.1:8080/', false);
    } catch (error) {
      response.writeHead(400).end(JSON.stringify({ detail: String(error) }));
    }
  });
  const { port, close } = await listening(usual);
  const { code, output, errors } = await world.run('webhooks/webhooks.sh', { SERVICE_URL: `http://127.0.0.1:${port}`, TOKEN: 'any' });
  await close();
  expect(code).toBe(1);
  expect(errors).toContain('Hosts of this machine are called only with');
  expect(output).not.toContain('Registered');
});

const CONFIDENCE = DATA_WORD + 3;
const COMMITMENT = DATA_WORD + 5;

describe('where the chain has something else', () => {
  it.each([
    ['verify/verify.ts', CONFIDENCE, '✗ what was revealed hashes to what was committed\n'],
    ['verify/verify.ts', RESOLVES_AT, '✗ its window is that of its day and horizon\n'],
    ['verify/verify.sh', COMMITMENT, 'The chain does NOT have this commitment: 0x'],
  ])('%s says so of word %i', async (file, word, words) => {
    const node = await lyingNode(world.rpcUrl, word);
    const { code, output, errors } = await world.run(file, { RPC_URL: node.url });
    await node.close();
    expect(code, errors).toBe(1);
    expect(output).toContain(words);
  });
});
