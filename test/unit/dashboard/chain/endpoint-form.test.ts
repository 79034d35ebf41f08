import { describe, expect, it } from 'vitest';
import { getDefaultEndpoint, parseEndpoint } from '../../../../src/page/browser/record-chain.ts';

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
