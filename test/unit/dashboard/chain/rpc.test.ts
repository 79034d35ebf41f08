import { describe, expect, it } from 'vitest';
import { callAll, RpcUnavailableError } from '../../../../src/dashboard/chain/rpc.ts';

const CALLS = [
  { method: 'eth_chainId', params: [] },
  { method: 'eth_blockNumber', params: [] },
];

let endpoints = 0;

/** An endpoint of its own, whose answer to a parsed request is JSON, text or bytes. */
function endpoint(answer: (request: unknown) => unknown, status = 200) {
  const asked: unknown[] = [];
  const fetch = async (_url: string, { body }: RequestInit) => {
    const request = JSON.parse(String(body));
    asked.push(request);
    const said = answer(request);
    return new Response(typeof said === 'string' || said instanceof ReadableStream ? said : JSON.stringify(said), { status });
  };
  const url = `http://127.0.0.1/rpc/${++endpoints}`;
  return { asked, ask: (calls = CALLS) => callAll(url, calls, { fetch }) };
}

const resultOf = ({ id, method }: { id: number; method: string }) => ({ jsonrpc: '2.0', id, result: `${method}!` });
const isBatch = (request: unknown): request is { id: number; method: string }[] => Array.isArray(request);

describe('callAll', () => {
  it('batches calls and returns the answers in their order', async () => {
    const { ask, asked } = endpoint((request) => (request as { id: number; method: string }[]).map(resultOf).reverse());
    expect(await ask()).toEqual([{ result: 'eth_chainId!' }, { result: 'eth_blockNumber!' }]);
    expect(asked).toHaveLength(1);
  });

  it('sends at most forty calls in one request', async () => {
    const { ask, asked } = endpoint((request) => (request as { id: number; method: string }[]).map(resultOf));
    expect(await ask(Array.from({ length: 85 }, () => CALLS[0]))).toHaveLength(85);
    expect(asked.map((request) => (request as unknown[]).length)).toEqual([40, 40, 5]);
  });

  it('sends single calls to an endpoint without batching', async () => {
    const { ask, asked } = endpoint(
      (request) => (isBatch(request) ? { error: { message: 'no batches' } } : resultOf(request as never)),
      400,
    );
    expect(await ask()).toEqual([{ result: 'eth_chainId!' }, { result: 'eth_blockNumber!' }]);
    expect(asked).toHaveLength(3);
    // Batching is not tried again.
    await ask();
    expect(asked.slice(3).map(isBatch)).toEqual([false, false]);
  });

  it('halves a batch whose response is too large', async () => {
    const long = 'a'.repeat(600_000);
    const { ask, asked } = endpoint((request) => [request as { id: number }].flat().map(({ id }) => ({ id, result: long })));
    expect(await ask(Array.from({ length: 8 }, () => CALLS[0]))).toEqual(Array.from({ length: 8 }, () => ({ result: long })));
    expect(asked.map((request) => (request as unknown[]).length)).toEqual([8, 4, 2, 2, 4, 2, 2]);
  });

  it('reports which call failed', async () => {
    const { ask } = endpoint((request) => {
      const [first, second] = request as { id: number; method: string }[];
      return [resultOf(first), { jsonrpc: '2.0', id: second.id, error: { code: -32_000, message: 'header not found' } }];
    });
    expect(await ask()).toEqual([{ result: 'eth_chainId!' }, { problem: 'it returns an error: header not found' }]);
  });
});

describe('an endpoint that violates JSON-RPC', () => {
  const said: [string, (request: unknown) => unknown, RegExp][] = [
    ['no JSON', () => '<html>hello</html>', /without JSON/],
    ['nothing', () => '', /without JSON/],
    [
      'other ids',
      (request) => (isBatch(request) ? request.map(({ id }) => ({ id: id + 7, result: '0x' })) : { id: 99, result: '0x' }),
      /other calls/,
    ],
    [
      'an id twice',
      (request) => (isBatch(request) ? request.flatMap((call) => [resultOf({ ...call, id: 1 })]) : resultOf(request as never)),
      /twice/,
    ],
    ['null', () => null, /other calls/],
    ['a list of nulls', (request) => (isBatch(request) ? [null, null] : null), /other calls/],
    ['a refusal of everything', () => ({ error: { message: 'x'.repeat(5_000) } }), /^it returns an error: x{120}$/],
    ['a problem document', () => ({ type: 'about:blank', detail: 'Too many requests' }), /^it returns an error: Too many requests$/],
    ['too much', () => 'a'.repeat(2_100_000), /too large/],
    ['without end', () => endless(), /too large/],
  ];
  for (const [what, answer, why] of said) {
    it(`is rejected: ${what}`, async () => {
      const failure = await endpoint(answer)
        .ask()
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(RpcUnavailableError);
      expect((failure as Error).message).toMatch(why);
    });
  }

  it('fails at once when it cannot be reached', async () => {
    const fetch = () => Promise.reject(new TypeError('Failed to fetch'));
    await expect(callAll('http://127.0.0.1/rpc', CALLS, { fetch })).rejects.toThrow('it cannot be reached from this browser');
  });

  it('is aborted when the reader stops', async () => {
    const stop = new AbortController();
    const fetch = (_url: string, { signal }: RequestInit) =>
      new Promise<Response>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    const asked = callAll('http://127.0.0.1/rpc', CALLS, { fetch, signal: stop.signal });
    stop.abort();
    await expect(asked).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
  });
});

function endless(): ReadableStream {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(100_000).fill(32)) });
}
