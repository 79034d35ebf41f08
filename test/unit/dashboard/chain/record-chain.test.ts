import { type Hex, numberToHex, toFunctionSelector } from 'viem';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { findAttestations, readAttestation } from '../../../../src/audit/chain-record.ts';
import { explainChainError, openRecordChain } from '../../../../src/page/browser/record-chain.ts';
import type { ApiResponses } from '../../../../src/page/browser/responses.ts';

const EAS = '0x4200000000000000000000000000000000000021';
const UID = `0x${'ab'.repeat(32)}` as const;
const INFO = { chain: { id: 8_453, local: false }, contracts: { eas: EAS } } as unknown as ApiResponses['info'];
const ATTESTED = { attester: `0x${'0a'.repeat(20)}` as const, fromBlock: 0, throughBlock: 9_999 };

interface Call {
  id: number;
  method: string;
  params: unknown[];
}

/** An endpoint whose answer to a request is JSON, text or bytes. */
function endpoint(answer: (request: Call | Call[]) => unknown, status = 200) {
  const requests: RequestInit[] = [];
  vi.stubGlobal('fetch', async (_url: string, request: RequestInit) => {
    requests.push(request);
    const said = answer(JSON.parse(String(request.body)));
    return new Response(typeof said === 'string' || said instanceof ReadableStream ? said : JSON.stringify(said), { status });
  });
  return { requests, open: open() };
}
const open =
  (signal = new AbortController().signal) =>
  () =>
    openRecordChain({ info: INFO, endpoint: 'https://rpc.example/', signal });
afterEach(() => vi.unstubAllGlobals());

const RESULTS: Record<string, unknown> = {
  eth_chainId: '0x2105',
  eth_blockNumber: '0x64',
  eth_getLogs: [],
  eth_getBlockByNumber: { number: numberToHex(ATTESTED.throughBlock) },
};
const resultOf = ({ id, method }: Call) => ({ jsonrpc: '2.0', id, result: RESULTS[method] });
const honest = (request: Call | Call[]) => (Array.isArray(request) ? request.map(resultOf) : resultOf(request));
const problemOf = (work: Promise<unknown>) =>
  work.then(
    () => 'no problem',
    (error: unknown) => explainChainError(error),
  );

it('batches calls and sends neither credentials nor the URL of the page', async () => {
  const { open, requests } = endpoint(honest);
  expect((await open()).parallel).toBe(200);
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({ credentials: 'omit', referrerPolicy: 'no-referrer', redirect: 'error', method: 'POST' });
});

it('sends single calls to an endpoint without batching', async () => {
  const { open } = endpoint((request) => (Array.isArray(request) ? { error: { code: -32_600, message: 'no batches' } } : honest(request)));
  const chain = await open();
  expect(chain.parallel).toBe(12);
  expect(await findAttestations(chain, 'prediction', ATTESTED)).toEqual([]);
});

it('repeats a request that an overloaded endpoint refuses', async () => {
  const { open } = endpoint(honest);
  const chain = await open();
  const { fetch } = globalThis;
  let refused = 0;
  vi.stubGlobal('fetch', (...request: Parameters<typeof fetch>) =>
    refused++ < 1 ? Promise.resolve(new Response('', { status: 429 })) : fetch(...request),
  );
  expect(await findAttestations(chain, 'prediction', ATTESTED)).toEqual([]);
  expect(refused).toBe(2);
});

it('rejects an endpoint of another chain', async () => {
  const { open } = endpoint((request) => [request].flat().map((call) => ({ ...resultOf(call), result: '0x1' })));
  expect(await problemOf(open())).toBe('rpc.example is of chain 1, the record is on chain 8453');
});

describe('an endpoint that violates JSON-RPC', () => {
  it.each<[string, (request: Call | Call[]) => unknown]>([
    ['no JSON', () => '<html>hello</html>'],
    ['nothing', () => ''],
    ['null', () => null],
    ['a list of nulls', (request) => (Array.isArray(request) ? [null, null] : null)],
    ['a refusal of everything', () => ({ error: { code: -32_000, message: 'x'.repeat(5_000) } })],
    ['a problem document', () => ({ type: 'about:blank', detail: 'Too many requests' })],
    ['without end', () => endless()],
  ])('is rejected: %s', async (_, answer) => {
    expect(await problemOf(endpoint(answer).open())).toMatch(/^.{1,200}$/s);
  });

  it.each([
    ['too short', '0x12'],
    ['empty', '0x'],
    ['no hex', 'attestation'],
    ['a number', 7],
    ['null', null],
    ['a list', []],
    ['a wrong offset', `0x${'ff'.repeat(352)}`],
  ])('is rejected when an attestation is %s', async (_, result) => {
    const selector = toFunctionSelector('getAttestation(bytes32)');
    const { open } = endpoint((request) =>
      [request].flat().map((call) => (JSON.stringify(call).includes(selector) ? { ...resultOf(call), result } : resultOf(call))),
    );
    const chain = await open();
    expect(await problemOf(readAttestation(chain, UID as Hex))).toMatch(/^.{1,200}$/s);
  });

  it('is rejected when it cannot be reached', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    expect(await problemOf(open()())).toBe('it cannot be reached from this browser');
  });

  it('is aborted when the reader stops', async () => {
    const stop = new AbortController();
    vi.stubGlobal(
      'fetch',
      (_url: string, { signal }: RequestInit) =>
        new Promise<Response>((_, reject) => {
          if (signal!.aborted) reject(signal!.reason);
          signal!.addEventListener('abort', () => reject(signal!.reason));
        }),
    );
    const opening = problemOf(open(stop.signal)());
    stop.abort();
    expect(await opening).not.toBe('no problem');
  });
});

function endless(): ReadableStream {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1_000_000).fill(32)) });
}
