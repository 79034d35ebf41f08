import { AgentCard, canonicalizeAgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { base64url, createLocalJWKSet, decodeProtectedHeader, exportJWK, flattenedVerify, generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { buildAgentCard, buildServedCard, createCardService, EXTENSION_URIS, signCard } from '../../../agent-card/card.ts';
import { type CardSource, ENDPOINTS } from '../../../agent-card/endpoints.ts';
import { SKILLS } from '../../../skills/index.ts';
import type { CardKeyStore } from '../../../src/auth/tokens.ts';
import { buildSkillContracts } from '../../../src/http/routes/skills.ts';
import { joinUrl } from '../../../src/platform/service-client.ts';
import { literalCanonicalCard, pythonCanonicalCard } from '../../support/a2a/agent-card-canonical.ts';

// biome-ignore lint/suspicious/noExplicitAny: documents are what is tested
type Body = any;

const source: CardSource = {
  publicUrl: 'https://oracle.example.org',
  version: '1.2.3',
  chainId: 8453,
  registry: '0x8004A169FB4a3325136EB29fA0ceB6D2e539a432',
  agentId: 0,
  payments: { payee: `0x${'2'.repeat(40)}`, asset: `0x${'3'.repeat(40)}`, receiptSigner: `0x${'4'.repeat(40)}` },
};

/** Base URLs with names, addresses, ports, paths and trailing slashes. */
const host = fc.oneof(
  fc.domain(),
  fc.ipV4(),
  fc.ipV6().map((ip) => `[${ip}]`),
  fc.constant('localhost'),
);
const segment = fc.stringMatching(/^[a-z0-9_~.-]{1,8}$/).filter((text) => !/^\.+$/.test(text));
const port = fc.option(
  fc.integer({ min: 1, max: 65_535 }).map((number) => `:${number}`),
  { nil: '' },
);
const prefix = fc.array(segment, { maxLength: 3 }).map((parts) => parts.map((part) => `/${part}`).join(''));
const publicUrls = fc
  .tuple(fc.constantFrom('http', 'https'), host, port, prefix, fc.constantFrom('', '/', '//'))
  .map(([scheme, name, number, path, end]) => ({
    base: `${scheme}://${name}${number}${path}`,
    publicUrl: `${scheme}://${name}${number}${path}${end}`,
  }));

async function signed(from = source) {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const kid = 'a-key';
  const { json, etag } = await signCard(from, { kid, privateKey });
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'ES256' };
  return { card: JSON.parse(json) as Body, etag, jwk, keys: createLocalJWKSet({ keys: [jwk] }) };
}

const encoded = (text: string) => base64url.encode(new TextEncoder().encode(text));

describe('a URL of the service', () => {
  it('joins base and path, whatever the base', () => {
    fc.assert(
      fc.property(publicUrls, fc.constantFrom(...Object.values(ENDPOINTS)), ({ base, publicUrl }, path) => {
        expect(joinUrl(publicUrl, path)).toBe(`${base}${path}`);
        expect(new URL(joinUrl(publicUrl, path)).pathname.endsWith(path)).toBe(true);
      }),
    );
  });
});

describe('the card', () => {
  it('is read back unchanged by the SDK', () => {
    fc.assert(
      fc.property(publicUrls, ({ base, publicUrl }) => {
        const card = buildAgentCard({ ...source, publicUrl });
        const { signatures: _, ...wire } = AgentCard.toJSON(card) as Body;
        expect(AgentCard.toJSON(AgentCard.fromJSON(buildServedCard({ ...source, publicUrl })))).toEqual(wire);
        for (const { url } of card.supportedInterfaces) expect([`${base}/a2a`, `${base}/a2a/rest`]).toContain(url);
      }),
      { numRuns: 30 },
    );
  });

  it('is deterministic and has no internal member of the SDK', () => {
    const text = JSON.stringify(buildServedCard(source));
    expect(JSON.stringify(buildServedCard({ ...source }))).toBe(text);
    expect(text).not.toContain('$case');
  });

  it('offers both bindings in both versions, 1.0 over JSON-RPC first', () => {
    const { supportedInterfaces } = buildServedCard(source) as Body;
    expect(supportedInterfaces.map(({ protocolBinding, protocolVersion }: Body) => `${protocolBinding} ${protocolVersion}`)).toEqual([
      'JSONRPC 1.0',
      'HTTP+JSON 1.0',
      'JSONRPC 0.3',
      'HTTP+JSON 0.3',
    ]);
  });

  it('has the same content for 0.3', () => {
    const card = buildServedCard(source) as Body;
    expect(card).toMatchObject({
      protocolVersion: '0.3.0',
      url: 'https://oracle.example.org/a2a',
      preferredTransport: 'JSONRPC',
      additionalInterfaces: [
        { url: 'https://oracle.example.org/a2a', transport: 'JSONRPC' },
        { url: 'https://oracle.example.org/a2a/rest', transport: 'HTTP+JSON' },
      ],
      supportsAuthenticatedExtendedCard: card.capabilities.extendedAgentCard,
    });
    const { httpAuthSecurityScheme, ...legacy } = card.securitySchemes.walletToken;
    expect(legacy).toEqual({ type: 'http', ...httpAuthSecurityScheme });
    for (const requirement of card.security) for (const name of Object.keys(requirement)) expect(card.securitySchemes).toHaveProperty(name);
  });

  it('requires a token for gated skills only', () => {
    const { skills } = buildServedCard(source) as Body;
    for (const [index, { id, tier }] of SKILLS.entries()) {
      const gated = tier !== 'public';
      expect(skills[index].id).toBe(id);
      expect(skills[index].securityRequirements, id).toEqual(gated ? [{ schemes: { walletToken: {} } }] : undefined);
      expect(skills[index].security, id).toEqual(gated ? [{ walletToken: [] }] : undefined);
    }
    expect(skills.some(({ security }: Body) => security)).toBe(true);
    expect(skills.some(({ security }: Body) => !security)).toBe(true);
  });

  it('names payee, asset and receipt signer under its signature', async () => {
    const { card } = await signed();
    const { params } = card.capabilities.extensions.find(({ uri }: Body) => uri === EXTENSION_URIS.x402);
    expect(params).toMatchObject({ ...source.payments, network: 'eip155:8453', terms: `${source.publicUrl}/.well-known/x402.json` });
  });

  it('links the skill contracts, and is below 12 kB with its signatures', async () => {
    const { card } = await signed();
    const { params, required } = card.capabilities.extensions.find(({ uri }: Body) => uri === EXTENSION_URIS.skillContracts);
    // Absent means false.
    expect(required).toBeUndefined();
    expect(params.contracts).toBe(`${source.publicUrl}/api/svc/skills`);
    expect(JSON.stringify(card).length).toBeLessThan(12_000);
  });

  it('has examples that the contract of each skill accepts', () => {
    const contracts = buildSkillContracts();
    expect(contracts.map(({ id }) => id)).toEqual(SKILLS.map(({ id }) => id));
    for (const [index, skill] of SKILLS.entries()) {
      const { input, output, examples } = contracts[index];
      expect([input.type, output.type], skill.id).toEqual(['object', 'object']);
      for (const example of examples) expect(skill.input.safeParse(example).success, skill.id).toBe(true);
      const samples = (buildServedCard(source) as Body).skills[index].examples.filter((text: string) => text.startsWith('{'));
      expect(samples.map((text: string) => JSON.parse(text).input)).toEqual(examples);
    }
  });
});

describe('the signatures', () => {
  it('verify with the SDK, over the served JSON and over the parsed card', async () => {
    const { card, jwk } = await signed();
    const asked: unknown[] = [];
    const verify = verifyAgentCardSignature(async (kid, jku) => {
      asked.push([kid, jku]);
      return jwk;
    });
    await verify(card);
    expect(asked).toEqual([['a-key', 'https://oracle.example.org/.well-known/agent-card-jwks.json']]);
  });

  it('verify with only a JOSE and a JCS library', async () => {
    const { card, keys } = await signed();
    const { signatures, ...rest } = card;
    expect(signatures).toHaveLength(3);
    const payloads = [canonicalizeAgentCard(rest), canonicalize(rest) as string, literalCanonicalCard(card)];
    for (const [index, signature] of signatures.entries()) {
      const { protectedHeader } = await flattenedVerify({ ...signature, payload: encoded(payloads[index]) }, keys);
      expect(protectedHeader).toEqual({
        alg: 'ES256',
        typ: 'JOSE',
        kid: 'a-key',
        jku: 'https://oracle.example.org/.well-known/agent-card-jwks.json',
      });
    }
    expect(decodeProtectedHeader(signatures[0])).toEqual(decodeProtectedHeader(signatures[1]));
  });

  it('verify over the canonical form of the Python SDK, which includes the 0.3 fields', async () => {
    const { card, keys } = await signed();
    const verified = (payload: string) => flattenedVerify({ ...card.signatures[0], payload: encoded(payload) }, keys);
    await verified(pythonCanonicalCard(card));
    await expect(verified(pythonCanonicalCard({ ...card, version: '0' }))).rejects.toThrow();
  });

  it('would fail there with a number in extension params, which Python converts to a float', () => {
    const card = buildServedCard(source) as Body;
    expect(pythonCanonicalCard(card)).toBe(canonicalizeAgentCard(card));
    card.capabilities.extensions[0].params.count = 4;
    expect(canonicalizeAgentCard(card)).toContain('"count":4,');
    expect(pythonCanonicalCard(card)).toContain('"count":4.0,');
  });

  it('cover with the third one what the SDKs omit: that a skill needs a token', async () => {
    const { card, keys } = await signed();
    const open = structuredClone(card);
    for (const skill of open.skills) delete skill.securityRequirements;
    const verified = (index: number, payload: string) => flattenedVerify({ ...card.signatures[index], payload: encoded(payload) }, keys);
    await verified(0, canonicalizeAgentCard(open));
    await expect(verified(2, literalCanonicalCard(open))).rejects.toThrow();
  });

  it('fail after a change: the second for any field, the first for a 1.0 field', async () => {
    const { card, keys } = await signed();
    const { signatures, ...rest } = card;
    for (const name of Object.keys(rest)) {
      const changed = { ...rest, [name]: 'another' };
      await expect(flattenedVerify({ ...signatures[1], payload: encoded(canonicalize(changed) as string) }, keys), name).rejects.toThrow();
    }
    const renamed = { ...rest, name: 'another' };
    await expect(flattenedVerify({ ...signatures[0], payload: encoded(canonicalizeAgentCard(renamed)) }, keys)).rejects.toThrow();
  });

  it('differ each time under one ETag, which changes with card or key', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    const [one, two, otherCard, otherKey] = await Promise.all([
      signCard(source, { kid: 'a', privateKey }),
      signCard(source, { kid: 'a', privateKey }),
      signCard({ ...source, version: '1.2.4' }, { kid: 'a', privateKey }),
      signCard(source, { kid: 'b', privateKey }),
    ]);
    expect(one.json).not.toBe(two.json);
    expect(one.etag).toMatch(/^W\/"[\w-]{43}"$/);
    expect(new Set([one, two, otherCard, otherKey].map(({ etag }) => etag)).size).toBe(3);
    expect(two.etag).toBe(one.etag);
  });
});

describe('a process', () => {
  it('signs once, and again within a minute of a rotation', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    let kid = 'first';
    let nowMs = Date.parse('2026-12-31T23:59:59Z');
    const keys = { getSigningKey: async () => ({ kid, privateKey }), getPublishedKeys: async () => [] } as unknown as CardKeyStore;
    const changes = { record: async () => new Date(nowMs) };
    const desk = createCardService({ source, keys, changes, now: () => new Date(nowMs) });
    const first = await desk.current();
    nowMs += 3_600_000;
    expect(await desk.current()).toBe(first);
    kid = 'second';
    expect(await desk.current()).toBe(first);
    nowMs += 60_000;
    const second = await desk.current();
    expect([second.kid, second.etag === first.etag]).toEqual(['second', false]);
  });
});
