import fc from 'fast-check';
import { createClient, custom, type Hex, numberToHex, toFunctionSelector } from 'viem';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type AuditChain, findAttestations, readAttestation } from '../../../../src/audit/chain-record.ts';
import { createAttestationReader } from '../../../../src/page/browser/check.ts';
import {
  createMetadataReader,
  explainChainError,
  getDefaultEndpoint,
  openRecordChain,
  parseEndpoint,
} from '../../../../src/page/browser/record-chain.ts';
import type { ApiResponses } from '../../../../src/page/browser/responses.ts';
import { buildMetadata } from '../../../../src/record/forecast-doc.ts';
import { encodeCid } from '../../../../src/verify/evidence.ts';

describe('attestations', () => {
  const UID = `0x${'ab'.repeat(32)}`;

  it('reports every answer that is no attestation as unread, and never throws', async () => {
    const hex = fc.uint8Array({ maxLength: 500 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.anything(), fc.string(), hex), async (result) => {
        const client = createClient({ transport: custom({ request: async () => result }, { retryCount: 0 }) });
        const addresses = { eas: `0x${'ea'.repeat(20)}`, schemaRegistry: `0x${'eb'.repeat(20)}` };
        const read = createAttestationReader({ client, addresses, chainId: 1, parallel: 1 } as unknown as AuditChain);
        expect(await read('prediction', UID)).toMatchObject({ uid: UID, content: { problem: expect.stringMatching(/./) } });
      }),
    );
  });

  it('treats text that is no uid as one that is not on chain', async () => {
    const read = createAttestationReader({} as AuditChain);
    expect(await read('prediction', null)).toBeNull();
    expect(await read('prediction', '0xAB')).toEqual({ uid: '0xab', schema: 'prediction', content: null, blockAt: null });
  });

  it('computes the same CID as the service', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), (value) => {
        const { digest, cid } = buildMetadata(value);
        expect(encodeCid(digest)).toBe(cid);
      }),
      { numRuns: 30 },
    );
  });
});

const BASE = 'http://oracle.example/below/';

describe('RPC endpoint', () => {
  it('defaults to the service on a local chain, otherwise to the endpoint that it names', () => {
    const chain = { id: 8453, caip2: 'eip155:8453', confirmations: 1, attester: '0x' };
    expect(getDefaultEndpoint({ ...chain, local: true, rpcUrl: 'http://elsewhere.example/rpc' }, BASE)).toBe(
      'http://oracle.example/below/rpc',
    );
    expect(getDefaultEndpoint({ ...chain, local: false, rpcUrl: 'https://mainnet.base.org' }, BASE)).toBe('https://mainnet.base.org');
    expect(getDefaultEndpoint({ ...chain, local: false, rpcUrl: null }, BASE)).toBe('');
  });

  it.each(['https://mainnet.base.org/', 'http://127.0.0.1:8545/', 'http://localhost:8545/', 'http://oracle.example/below/rpc'])(
    'may be %s',
    (url) => {
      expect(parseEndpoint(` ${url} `, BASE)).toEqual({ url });
    },
  );

  it.each([
    '',
    '  ',
    'http://10.0.0.1:8545/',
    'http://127.0.0.1.example/',
    'ftp://127.0.0.1/',
    'javascript:alert(1)',
    'https://user:secret@rpc.example/',
    'https://',
  ])('rejects "%s"', (text) => {
    expect(parseEndpoint(text, BASE)).toEqual({ problem: expect.any(String) });
  });
});
describe('metadata', () => {
  const { signal } = new AbortController();

  function reader(answer: (path: string) => Response) {
    const asked: string[] = [];
    const clock = { now: 0 };
    const fetch = async (path: string) => {
      asked.push(path);
      return answer(path);
    };
    return { asked, clock, read: createMetadataReader(fetch, () => clock.now) };
  }

  it('fetches each CID once and limits requests per minute', async () => {
    const { asked, clock, read } = reader((path) => new Response(path));
    const all = Array.from({ length: 30 }, (_, index) => `b${index}`);
    const first = await Promise.all(all.map((cid) => read(cid, signal)));
    expect(first.map((one) => one instanceof Uint8Array)).toEqual(all.map((_, index) => index < 25));
    expect(first[0]).toEqual(new TextEncoder().encode('ipfs/b0'));
    expect(await read('b0', signal)).toBe(first[0]);
    clock.now = 60_000;
    expect(await read('b29', signal)).toBeInstanceOf(Uint8Array);
    expect(asked).toHaveLength(26);
  });

  it('reports why metadata is missing and retries the next time', async () => {
    let status = 404;
    const { read } = reader(() => new Response('', { status }));
    expect(await read('b1', signal)).toEqual({ problem: 'the service answers with status 404' });
    status = 200;
    expect(await read('b1', signal)).toEqual(new Uint8Array());
  });

  it('limits the size of a response', async () => {
    const { read } = reader(() => new Response('a'.repeat(200_001)));
    expect(await read('b1', signal)).toEqual({ problem: 'the service does not return it' });
  });
});

describe('record chain', () => {
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
    const { open } = endpoint((request) =>
      Array.isArray(request) ? { error: { code: -32_600, message: 'no batches' } } : honest(request),
    );
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
});
