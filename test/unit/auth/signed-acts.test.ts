import { privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage, type SiweMessage } from 'viem/siwe';
import { describe, expect, it } from 'vitest';
import { checkSiweMessage } from '../../../src/auth/signed-acts.ts';

const now = new Date('2026-12-31T23:59:30.000Z');
const { address } = privateKeyToAccount(`0x${'1'.repeat(64)}`);
const expected = { domain: 'oracle.example', origin: 'https://oracle.example', chainId: 8453 };
const nonce = 'a1b2c3d4e5f60718';

const message = (changes: Partial<SiweMessage> = {}) =>
  createSiweMessage({
    address,
    domain: 'oracle.example',
    uri: 'https://oracle.example',
    version: '1',
    chainId: 8453,
    nonce,
    issuedAt: now,
    ...changes,
  });
const check = (text: string) => checkSiweMessage(text, expected, now);
const minutes = (count: number) => new Date(now.getTime() + count * 60_000);

describe('an EIP-4361 message', () => {
  it.each<[string, Partial<SiweMessage>]>([
    ['with what it must have', {}],
    ['with a statement', { statement: 'Sign in to see the signal.' }],
    ['with a statement that looks like fields', { statement: 'URI: https://evil.example' }],
    ['with a path below the origin', { uri: 'https://oracle.example/login?next=1' }],
    ['with a scheme', { scheme: 'https' }],
    ['with all its times', { issuedAt: minutes(-4), expirationTime: minutes(1), notBefore: minutes(-4) }],
    ['with a request id and resources', { requestId: 'r 1', resources: ['https://oracle.example/a', 'ipfs://b'] }],
  ])('says who signs in: %s', (_, changes) => {
    expect(check(message(changes))).toEqual({ wallet: address, nonce });
  });

  it.each([address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`])('may have the address in one case: %s', (spelled) => {
    expect(check(message().replace(address, spelled))).toEqual({ wallet: address, nonce });
  });

  it('may have times without milliseconds and in another time zone', () => {
    const text = message().replace(now.toISOString(), '2027-01-01T00:59:30+01:00');
    expect(check(text)).toEqual({ wallet: address, nonce });
  });

  it('must name the host with its port', () => {
    const local = { domain: '127.0.0.1:3000', origin: 'http://127.0.0.1:3000', chainId: 8453 };
    const text = message({ domain: '127.0.0.1:3000', uri: 'http://127.0.0.1:3000', scheme: 'http' });
    expect(checkSiweMessage(text, local, now)).toEqual({ wallet: address, nonce });
    expect(() => checkSiweMessage(message({ domain: '127.0.0.1:3001' }), local, now)).toThrow('made out to 127.0.0.1:3000');
  });

  it.each<[string, Partial<SiweMessage>]>([
    ['message.domain', { domain: 'evil.example' }],
    ['message.domain', { domain: 'oracle.example.evil.example' }],
    ['message.domain', { domain: 'oracle.example:8443' }],
    ['message.scheme', { scheme: 'http' }],
    ['message.uri', { uri: 'https://evil.example' }],
    ['message.uri', { uri: 'http://oracle.example' }],
    ['message.uri', { uri: 'https://oracle.example@evil.example/' }],
    ['message.chainId', { chainId: 1 }],
    ['message.issuedAt', { issuedAt: minutes(-6) }],
    ['message.issuedAt', { issuedAt: minutes(6) }],
    ['message.expirationTime', { expirationTime: now }],
    ['message.notBefore', { notBefore: minutes(1) }],
  ])('is refused naming %s: %o', (field, changes) => {
    expect(() => check(message(changes))).toThrow(expect.objectContaining({ code: 'UNAUTHENTICATED', field }));
  });

  it.each<[string, string, string]>([
    ['another version', 'message.version', message().replace('Version: 1', 'Version: 2')],
    [
      'a wrong checksum',
      'message.address',
      message().replace(
        address,
        address.replace(/[a-f]/, (c) => c.toUpperCase()),
      ),
    ],
    ['a day without a time', 'message.issuedAt', message().replace(now.toISOString(), '2026-12-31')],
    ['an impossible time', 'message.issuedAt', message().replace(now.toISOString(), '2026-13-31T23:59:30Z')],
    ['a nonce that is too short', 'message', message().replace(nonce, 'a1b2c3')],
    ['a text before it', 'message', `I agree.\n${message()}`],
    ['a text after it', 'message', `${message()}\nResources`],
    ['a line break after it', 'message', `${message()}\n`],
    ['a second statement', 'message', message({ statement: 'One.' }).replace('One.', 'One.\nTwo.')],
    ['Windows line breaks', 'message', message().replaceAll('\n', '\r\n')],
    ['nothing', 'message', ''],
    ['another text', 'message', 'Verify svc balance: 0x0:1'],
    ['too long a text', 'message', message({ statement: 'a'.repeat(4_096) })],
  ])('is no such message with %s', (_, field, text) => {
    expect(() => check(text)).toThrow(expect.objectContaining({ code: 'INPUT_INVALID', field }));
  });
});
