import { describe, expect, it } from 'vitest';
import { callAll, RpcUnavailableError } from '../../../../src/dashboard/chain/rpc.js';

const CALLS = [
  { method: 'eth_chainId', params: [] },
  { method: 'eth_blockNumber', params: [] },
];

let endpoints = 0;

/** An endpoint of its own that answers a parsed request with whatever is given, as JSON, text or bytes. */
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

describe('calls to an endpoint', () => {
  it('go together, and their answers come in the order of the calls', async () => {
    const { ask, asked } = endpoint((request) => (request as { id: number; method: string }[]).map(resultOf).reverse());
    expect(await ask()).toEqual([{ result: 'eth_chainId!' }, { result: 'eth_blockNumber!' }]);
    expect(asked).toHaveLength(1);
  });

  it('are forty at most in one post', async () => {
    const { ask, asked } = endpoint((request) => (request as { id: number; method: string }[]).map(resultOf));
    expect(await ask(Array.from({ length: 85 }, () => CALLS[0]))).toHaveLength(85);
    expect(asked.map((request) => (request as unknown[]).length)).toEqual([40, 40, 5]);
  });

  it('go one by one where the endpoint knows no batch', async () => {
    const { ask, asked } = endpoint(
      (request) => (isBatch(request) ? { error: { message: 'no batches' } } : resultOf(request as never)),
      400,
    );
    expect(await ask()).toEqual([{ result: 'eth_chainId!' }, { result: 'eth_blockNumber!' }]);
    expect(asked).toHaveLength(3);
    // It is not asked a second time whether it knows any.
    await ask();
    expect(asked.slice(3).map(isBatch)).toEqual([false, false]);
  });

  it('go in halves where an answer is too long to be read, so that each is answered that can be', async () => {
    const long = 'a'.repeat(600_000);
    const { ask, asked } = endpoint((request) => [request as { id: number }].flat().map(({ id }) => ({ id, result: long })));
    expect(await ask(Array.from({ length: 8 }, () => CALLS[0]))).toEqual(Array.from({ length: 8 }, () => ({ result: long })));
    expect(asked.map((request) => (request as unknown[]).length)).toEqual([8, 4, 2, 2, 4, 2, 2]);
  });

  it('tell which of them failed', async () => {
    const { ask } = endpoint((request) => {
      const [first, second] = request as { id: number; method: string }[];
      return [resultOf(first), { jsonrpc: '2.0', id: second.id, error: { code: -32_000, message: 'header not found' } }];
    });
    expect(await ask()).toEqual([{ result: 'eth_chainId!' }, { problem: 'it refuses: header not found' }]);
  });
});

describe('an endpoint that talks nonsense', () => {
  const said: [string, (request: unknown) => unknown, RegExp][] = [
    ['no JSON', () => '<html>hello</html>', /no JSON/],
    ['nothing', () => '', /no JSON/],
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
    ['a refusal of everything', () => ({ error: { message: 'x'.repeat(5_000) } }), /^it refuses: x{120}$/],
    ['a problem document', () => ({ type: 'about:blank', detail: 'Too many requests' }), /^it refuses: Too many requests$/],
    ['too much', () => 'a'.repeat(2_100_000), /too much/],
    ['without end', () => endless(), /too much/],
  ];
  for (const [what, answer, why] of said) {
    it(`is not believed: ${what}`, async () => {
      const failure = await endpoint(answer)
        .ask()
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(RpcUnavailableError);
      expect((failure as Error).message).toMatch(why);
    });
  }

  it('is not waited for when it cannot be reached', async () => {
    const fetch = () => Promise.reject(new TypeError('Failed to fetch'));
    await expect(callAll('http://127.0.0.1/rpc', CALLS, { fetch })).rejects.toThrow('it cannot be reached from this browser');
  });

  it('is left when the reader stops', async () => {
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
