import { AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { AgentCardResolver } from '@a2a-js/sdk/client';
import { AgentCardResolver as LegacyCardResolver } from 'a2a-sdk-0.3/client';
import canonicalize from 'canonicalize';
import { type CryptoKey, createRemoteJWKSet, customFetch, flattenedVerify, importJWK, type JWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import { composeCard } from '../../../../../src/app/transports.ts';
import { AGENT_CARD, agentCardRoutes } from '../../../../../src/http/routes/agent-card.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { AS_OPERATOR, OPERATOR } from '../../../../support/service/operator.ts';
import { type TestService, testService } from '../../../../support/service/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: documents are what is tested
type Body = any;

let service: TestService;
let served: Served;
beforeAll(async () => {
  service = await testService(0, OPERATOR);
  served = await serve(service);
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

const fetchCard = (init?: RequestInit, { url } = served) => fetch(url + ENDPOINTS.agentCard, init);
const readCard = async (from = served): Promise<Body> => (await fetchCard(undefined, from)).json();
const encoded = (text: string) => Buffer.from(text).toString('base64url');

/** The same path at the service under test, which is not where its own URLs lead. */
const here = (url: string) => served.url + new URL(url).pathname;

/** Verifies with a generic JOSE and JCS library, trusting the `jku`. */
async function verifyWhole(card: Body) {
  const { signatures, ...rest } = card;
  const { jku } = JSON.parse(Buffer.from(signatures[1].protected, 'base64url').toString());
  const keys = createRemoteJWKSet(new URL(jku), { [customFetch]: (url, init) => fetch(here(url), init as RequestInit) });
  return flattenedVerify({ ...signatures[1], payload: encoded(canonicalize(rest) as string) }, keys);
}

/** The SDK's verifier, with keys fetched from where the signature says. */
const verifyBySdk = verifyAgentCardSignature(async (kid, jku) => {
  const { keys } = (await (await fetch(here(jku!))).json()) as { keys: JWK[] };
  return (await importJWK(keys.find((key) => key.kid === kid)!, 'ES256')) as CryptoKey;
});

describe('the served card', () => {
  it('matches its schema and is cacheable for an hour', async () => {
    const response = await fetchCard();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('public, max-age=3600');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(AGENT_CARD.parse(await response.clone().json())).toEqual(await response.json());
  });

  it('returns 304 for its ETag', async () => {
    const etag = (await fetchCard()).headers.get('etag')!;
    const again = await fetchCard({ headers: { 'If-None-Match': etag } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await fetchCard({ headers: { 'If-None-Match': '"another"' } })).status).toBe(200);
    expect((await fetchCard({ method: 'POST' })).status).toBe(405);
  });

  it('returns 304 since its last change, in any process', async () => {
    const response = await fetchCard();
    const modified = response.headers.get('last-modified')!;
    expect(new Date(modified).toUTCString()).toBe(modified);
    const since = async (date: string, tag?: string) => {
      const again = await fetchCard({ headers: { 'If-Modified-Since': date, ...(tag === undefined ? {} : { 'If-None-Match': tag }) } });
      return [again.status, again.headers.get('last-modified'), (await again.text()).length > 0];
    };
    const later = (ms: number) => new Date(Date.parse(modified) + ms).toUTCString();
    expect(await since(modified)).toEqual([304, modified, false]);
    expect(await since(later(60_000))).toEqual([304, modified, false]);
    expect(await since(later(-1_000))).toEqual([200, modified, true]);
    expect(await since('yesterday')).toEqual([200, modified, true]);
    // The tag decides where there is one (RFC 9110, section 13.1.3).
    expect(await since(modified, '"another"')).toEqual([200, modified, true]);
  });

  it('verifies with the SDK and with a generic JOSE library', async () => {
    const card = await readCard();
    await verifyBySdk(card);
    const { protectedHeader } = await verifyWhole(card);
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'JOSE', kid: (await readIdentity()).agentCard.keyId });
    await expect(verifyWhole({ ...card, url: 'https://elsewhere.example/a2a' })).rejects.toThrow();
    // It writes down each signature that does not verify.
    const silent = vi.spyOn(console, 'debug').mockImplementation(() => undefined);
    await expect(verifyBySdk({ ...card, description: 'another' })).rejects.toThrow('No valid signatures');
    silent.mockRestore();
  });

  it('is resolved and verified by a 1.x client', async () => {
    const card = await AgentCardResolver.default.resolve(served.url);
    await verifyBySdk(card);
    expect(AgentCard.fromJSON(card).supportedInterfaces[0]).toMatchObject({ protocolBinding: 'JSONRPC', protocolVersion: '1.0' });
  });

  it('is read by a 0.3 client', async () => {
    const card = await LegacyCardResolver.default.resolve(served.url);
    expect([card.protocolVersion, card.preferredTransport, new URL(card.url).pathname]).toEqual(['0.3.0', 'JSONRPC', ENDPOINTS.a2a]);
    expect(card.securitySchemes!.walletToken).toMatchObject({ type: 'http', scheme: 'bearer' });
  });
});

async function readIdentity(): Promise<Body> {
  return (await fetch(`${served.url}/api/svc/agent/identity`)).json();
}

describe('the card keys', () => {
  it('differ from those of session tokens', async () => {
    const setOf = async (path: string) => ((await (await fetch(served.url + path)).json()) as { keys: JWK[] }).keys;
    const [card, tokens] = [await setOf(ENDPOINTS.cardKeys), await setOf('/.well-known/jwks.json')];
    expect(card.map(({ alg }) => alg)).toEqual(['ES256']);
    expect(tokens.map(({ alg }) => alg)).toEqual(['EdDSA']);
    expect(card.map(({ kid }) => kid)).not.toEqual(expect.arrayContaining(tokens.map(({ kid }) => kid)));
    expect(JSON.stringify(card)).not.toContain('"d"');
  });

  it('are shared by all processes, with the same ETag', async () => {
    const { database, infrastructure, http } = service;
    const { encryptionSecret } = infrastructure;
    const card = await composeCard({ ...http, db: database.db, encryptionSecret }, http.card.source);
    const other = await serve(service, agentCardRoutes({ ...http, card }));
    const [one, two] = await Promise.all([fetchCard(), fetchCard(undefined, other)]);
    expect(two.headers.get('etag')).toBe(one.headers.get('etag'));
    expect(two.headers.get('last-modified')).toBe(one.headers.get('last-modified'));
    await verifyWhole(await two.json());
    await other.close();
  });

  it('rotate: new cards use the new key, and earlier cards still verify', async () => {
    const before = await readCard();
    const etag = (await fetchCard()).headers.get('etag')!;
    const rotated = await fetch(`${served.url}/admin/card-keys/rotate`, { method: 'POST', headers: { Authorization: AS_OPERATOR } });
    const { kid } = (await rotated.json()) as Body;
    const after = await fetchCard({ headers: { 'If-None-Match': etag } });
    expect([rotated.status, after.status]).toEqual([200, 200]);
    expect((await verifyWhole(await after.json())).protectedHeader?.kid).toBe(kid);
    expect((await verifyWhole(before)).protectedHeader?.kid).not.toBe(kid);
    expect((await readIdentity()).agentCard.keyId).toBe(kid);
  });
});
