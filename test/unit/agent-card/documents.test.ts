import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildAgentCard } from '../../../agent-card/card.ts';
import { buildMcpServerCard, buildMcpServerFile, MCP_VERSIONS, renderMethodology } from '../../../agent-card/documents.ts';
import { ENDPOINTS, IDENTITY, INTERFACES, type ServiceInterface } from '../../../agent-card/endpoints.ts';
import { renderSkillFile } from '../../../agent-card/skill-documents.ts';
import { SKILLS } from '../../../skills/index.ts';
import { formatPrice } from '../../../skills/skill.ts';
import { FORECAST_TERMS, formatMoney } from '../../../src/commerce/offerings.ts';
import { WEBSOCKET } from '../../../src/events/events.ts';
import {
  buildAiCatalog,
  buildApiCatalog,
  formatCatalogLinks,
  ICON_SVG,
  listInterfaces,
  renderLlmsText,
} from '../../../src/http/routes/agent-card.ts';
import { buildRegistrationFile } from '../../../src/http/routes/identity.ts';
import { STANDARDS } from '../../../src/http/routes/info.ts';
import { buildX402Document, buildX402Resources } from '../../../src/http/routes/paid.ts';
import { declaredRoutes } from '../../../src/http/routes.ts';
import type { Services } from '../../../src/http/services.ts';
import { MERCHANT, sales } from '../../support/commerce/paid-quotes.ts';

const BASE = 'https://oracle.example.org/base';
const at = (path: string) => `${BASE}${path}`;
const source = {
  ...{ publicUrl: `${BASE}/`, version: '1.2.3', hasOAuth: true, chainId: 8453, agentId: 7 },
  registry: `0x${'1'.repeat(40)}`,
  payments: { payee: `0x${'2'.repeat(40)}`, asset: `0x${'3'.repeat(40)}`, receiptSigner: `0x${'4'.repeat(40)}` },
} as const;
const { a2a, mcp, rest, x402 } = INTERFACES;

/** All URLs of the service in a document. */
const urlsOf = (document: unknown) => new Set(JSON.stringify(document).match(/https:\/\/oracle\.example\.org[^\s"<>)\\]*/g));
const described = listInterfaces().map(({ description }) => at(description.path));
const called = listInterfaces().flatMap(({ endpoints }) => endpoints.map(at));

const commerce = {
  ...{ merchant: MERCHANT, sales, facilitatorUrl: null, receiptSigner: MERCHANT.payee },
  readForecastTerms: async () => ({ text: FORECAST_TERMS, revealedCalls: [] }),
} as never;
const x402Document = await buildX402Document({ commerce, publicUrl: BASE } as unknown as Services);

describe('every interface of the registry', () => {
  const artifacts = listInterfaces().filter(({ artifactType }) => artifactType !== null);
  it.each<[string, unknown, readonly string[]]>([
    ['the API catalog', buildApiCatalog(source), [...called, ...described]],
    ['the link header of the API catalog', formatCatalogLinks(source), called],
    ['the AI catalog', buildAiCatalog(source), artifacts.map(({ description }) => at(description.path))],
    ['llms.txt', renderLlmsText(source), [...described, at(mcp.endpoints[0]), ...x402.endpoints.map(at)]],
    ['the agent card', buildAgentCard(source), a2a.endpoints.map(at)],
    ['server.json', buildMcpServerFile(source), mcp.endpoints.map(at)],
    ['the MCP server card', buildMcpServerCard(source), mcp.endpoints.map(at)],
    [
      'the registration file',
      buildRegistrationFile(source),
      [a2a, rest, x402].map(({ description }) => at(description.path)).concat(at(mcp.endpoints[0])),
    ],
    ['x402.json', x402Document, [...x402.endpoints, mcp.endpoints[0], a2a.description.path].map(at)],
    ['the bare list of x402', buildX402Resources(source as unknown as Services), x402.endpoints.map(at)],
    ['the list of standards', STANDARDS.flatMap(({ paths }) => paths.map(at)), described],
  ])('has its URLs in %s', (_, document, expected) => {
    expect([...urlsOf(document)]).toEqual(expect.arrayContaining([...expected]));
  });

  it('is served at its paths', () => {
    const served = new Set<string>([...declaredRoutes().map(({ path }) => path), ENDPOINTS.mcp, ENDPOINTS.a2a, ENDPOINTS.a2aRest]);
    const paths = listInterfaces().flatMap(({ endpoints, description, guide }) => [...endpoints, description.path, guide]);
    expect([...paths, ENDPOINTS.health].filter((path) => !served.has(path))).toEqual([]);
    expect(ENDPOINTS.webSocket).toBe(WEBSOCKET.path);
  });
});

describe('the API catalog', () => {
  const { linkset } = buildApiCatalog(source);
  const [catalog, ...endpoints] = linkset;

  it('lists each endpoint once, and describes it at its own anchor', () => {
    expect(catalog).toEqual({ anchor: at('/.well-known/api-catalog'), item: called.map((href) => ({ href })) });
    expect(endpoints.map(({ anchor }) => anchor)).toEqual(called);
    expect(endpoints.find(({ anchor }) => anchor === at('/mcp'))).toEqual({
      anchor: at('/mcp'),
      'service-desc': [{ href: at('/mcp/server-card'), type: 'application/mcp-server-card+json' }],
      'service-doc': [{ href: at('/SKILL.md') }],
      status: [{ href: at('/health'), type: 'application/json' }],
    });
  });
});

describe('the AI catalog', () => {
  it.each([BASE, 'http://127.0.0.1:3000', 'http://localhost:3000'])('of %s has the members of version 0.9', (publicUrl) => {
    const ENTRY = z.strictObject({ identifier: z.string().regex(/^urn:air:[^:]+:[a-z0-9-]+:[a-z0-9]+$/), type: z.string(), url: z.url() });
    const HOST = z.strictObject({ displayName: z.string(), identifier: z.string(), documentationUrl: z.url(), logoUrl: z.url() });
    const CATALOG = z.strictObject({ specVersion: z.literal('0.9'), host: HOST, entries: z.array(ENTRY) });
    const { entries } = CATALOG.parse(buildAiCatalog({ publicUrl }));
    expect(new Set(entries.map(({ identifier }) => identifier)).size).toBe(entries.length);
    const listed = Object.values<ServiceInterface>(INTERFACES).filter(({ artifactType }) => artifactType !== null);
    expect(entries.map(({ type }) => type)).toEqual(listed.map(({ artifactType }) => artifactType));
  });
});

describe('the MCP server card', () => {
  it('has the members and limits of its schema, and those of server.json', () => {
    const CARD = z.strictObject({
      $schema: z.literal('https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'),
      name: z.string().regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
      title: z.string().max(100),
      description: z.string().min(1).max(100),
      version: z.string().max(255),
      websiteUrl: z.url(),
      icons: z.array(z.strictObject({ src: z.url(), mimeType: z.string(), sizes: z.array(z.string()) })),
      remotes: z.array(z.looseObject({ type: z.literal('streamable-http'), url: z.url(), supportedProtocolVersions: z.array(z.string()) })),
    });
    const card = CARD.parse(buildMcpServerCard(source));
    const { name, version, title } = buildMcpServerFile(source);
    expect(card).toMatchObject({ name, version, title });
  });

  it('names the revisions that the server negotiates', () => {
    const [newest, ...older] = MCP_VERSIONS;
    expect(newest).toBe(mcp.version);
    expect(older).toEqual(SUPPORTED_PROTOCOL_VERSIONS);
  });
});
describe('documents', () => {
  const publicUrl = 'https://oracle.example.org';
  const version = '1.2.3';

  /** Rules of the registry schema 2025-12-11 for the members in use; unknown ones are rejected. */
  const SERVER_SCHEMA = z.strictObject({
    $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
    name: z
      .string()
      .min(3)
      .max(200)
      .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
    title: z.string().min(1).max(100),
    description: z.string().min(1).max(100),
    version: z
      .string()
      .max(255)
      .refine((text) => text !== 'latest' && !/[\^~<>=*x|]/.test(text)),
    websiteUrl: z.url(),
    remotes: z
      .array(
        z.strictObject({
          type: z.enum(['streamable-http', 'sse']),
          url: z.string().regex(/^https?:\/\/[^\s]+$/),
          headers: z.array(z.strictObject({ name: z.string(), description: z.string(), isRequired: z.boolean(), isSecret: z.boolean() })),
        }),
      )
      .min(1),
  });

  describe('server.json', () => {
    it.each([
      [publicUrl, 'org.example.oracle'],
      ['http://127.0.0.1:3000', 'localhost'],
      ['http://[::1]:3000/base/', 'localhost'],
      ['http://localhost:3000', 'localhost'],
      ['https://ORACLE.Example.org.:8443/a/b//', 'org.example.oracle'],
      ['https://bücher.example', 'example.xn--bcher-kva'],
    ])('of %s is valid for the registry, named after the host', (base, namespace) => {
      const file = SERVER_SCHEMA.parse(buildMcpServerFile({ publicUrl: base, version, hasOAuth: true }));
      expect(file.name).toBe(`${namespace}/bitcoin-signal-oracle`);
      expect(file.remotes[0].url).toBe(`${base.replace(/\/+$/, '')}/mcp`);
    });

    it('names OAuth where assistants can authorize by it', () => {
      const describe = (hasOAuth: boolean) =>
        JSON.stringify(buildMcpServerFile({ publicUrl: 'https://oracle.example', version, hasOAuth }));
      expect([describe(true).includes('/mcp/account'), describe(false).includes('OAuth')]).toEqual([true, false]);
    });

    it('is valid for any host', () => {
      fc.assert(
        fc.property(fc.webUrl({ authoritySettings: { withPort: true, withIPv4: true, withIPv6: true } }), (base) => {
          const file = buildMcpServerFile({ publicUrl: base.replace(/[?#].*$/, ''), version, hasOAuth: true });
          expect(SERVER_SCHEMA.safeParse(file).error?.issues ?? []).toEqual([]);
        }),
      );
    });
  });

  describe('the registration file', () => {
    it('names its services as EIP-8004 does, and supports x402', () => {
      const registry = '0x8004A169FB4a3325136EB29fA0ceB6D2e539a432';
      const payments = { payee: `0x${'2'.repeat(40)}`, asset: `0x${'3'.repeat(40)}`, receiptSigner: `0x${'4'.repeat(40)}` } as const;
      const file = buildRegistrationFile({ publicUrl, chainId: 8453, registry, agentId: 7, payments });
      expect(file).toMatchObject({
        type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1',
        name: IDENTITY.name,
        active: true,
        x402Support: true,
        registrations: [{ agentId: 7, agentRegistry: `eip155:8453:${registry}` }],
        supportedTrust: ['reputation'],
      });
      expect(file.services.map(({ name }) => name)).toEqual(['web', 'A2A', 'MCP', 'OpenAPI', 'x402']);
      expect(file.services.at(-1)).toEqual({
        ...{ name: 'x402', endpoint: 'https://oracle.example.org/.well-known/x402.json', version: '2' },
        payee: `eip155:8453:${payments.payee}`,
        asset: `eip155:8453:${payments.asset}`,
        receiptSigner: `eip155:8453:${payments.receiptSigner}`,
      });
      expect(file.services.slice(0, 3).map(({ endpoint }) => endpoint)).toEqual([
        'https://oracle.example.org/',
        'https://oracle.example.org/.well-known/agent-card.json',
        'https://oracle.example.org/mcp',
      ]);
    });
  });

  describe('llms.txt', () => {
    const lines = renderLlmsText({ publicUrl }).split('\n');

    it('has the layout of llmstxt.org: title, quote, text, link lists', () => {
      expect(lines[0]).toBe(`# ${IDENTITY.name}`);
      expect(lines.filter((line) => line.startsWith('# '))).toHaveLength(1);
      expect(lines[2]).toBe(`> ${IDENTITY.description}`);
      const first = lines.findIndex((line) => line.startsWith('## '));
      for (const line of lines.slice(first).filter((text) => text !== '' && !text.startsWith('## '))) {
        expect(line).toMatch(/^- \[[^\]]+\]\(https:\/\/oracle\.example\.org\/[^)\s]*\): \S.*\.?$/);
      }
      expect(lines.at(-1)).toBe('');
    });

    it('lists each skill with its price', () => {
      for (const skill of SKILLS) {
        const line = lines.find((text) => text.includes(`POST /api/svc/skills/${skill.id}.`));
        expect(line, skill.id).toContain(`${skill.title} (${skill.id})`);
        expect(line, skill.id).toContain(`Price: ${formatPrice(skill)}.`);
      }
    });
  });

  describe('SKILL.md', () => {
    const text = renderSkillFile({ publicUrl, version });
    const [, matter, body] = text.split(/^---$/m);

    it('has the front matter of Agent Skills', () => {
      const fields = Object.fromEntries(
        matter
          .trim()
          .split('\n')
          .map((line) => line.split(/: (.*)/).slice(0, 2)),
      );
      expect(fields.name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(fields.name.length).toBeLessThanOrEqual(64);
      const description = JSON.parse(fields.description);
      expect(description.length).toBeLessThanOrEqual(1_024);
      expect(description).toMatch(/Use it for/);
      expect(fields.license).toBe('MIT');
      expect(fields.compatibility.length).toBeLessThanOrEqual(500);
      expect(matter).toContain(`  version: "${version}"`);
    });

    it('documents every skill and every input field', () => {
      for (const skill of SKILLS) {
        const guide = body.slice(body.indexOf(`### ${skill.title}: \`${skill.id}\``)).split('\n###')[0];
        expect(guide, skill.id).toContain(skill.description);
        expect(guide, skill.id).toContain(`- Price: ${formatPrice(skill)}\n`);
        for (const name of Object.keys(skill.input.shape))
          expect(guide, `${skill.id}.${name}`).toMatch(new RegExp(`^  - \`${name}\` \\(`, 'm'));
      }
    });

    it('explains events and links their description', () => {
      for (const path of ['/ws/signal', '/api/svc/webhooks/register', '/.well-known/asyncapi.json'])
        expect(body).toContain(`${publicUrl}${path}`);
    });

    it('is short, and its shell lines are safe', () => {
      expect(text.split('\n').length).toBeLessThan(500);
      const commands = text.match(/^curl .*$/gm) ?? [];
      expect(commands.length).toBeGreaterThan(SKILLS.length);
      for (const line of commands) expect((line.match(/'/g) ?? []).length, line).toBe(2);
    });
  });

  it('names the price of each single answer', () => {
    for (const skill of SKILLS) {
      if (skill.offering === null) expect(formatPrice(skill), skill.id).not.toContain('x402');
      else
        expect(formatPrice(skill), skill.id).toContain(
          `${formatMoney(skill.offering.price)} for a single answer, paid by x402 with the call over REST, MCP or A2A, or at ${skill.offering.resource?.path}`,
        );
    }
  });

  describe('the methodology', () => {
    it('states the lack of skill, and matches the code', () => {
      const text = renderMethodology({ publicUrl });
      expect(text).toContain('**The direction shows no skill that can be distinguished from luck.**');
      expect(text).toContain('147 variants of the direction and 39 distributions were tried');
      expect(text).toContain('at 21:35 UTC');
      expect(text).toContain(
        'keccak256(abi.encode(bytes32 salt, uint8 signal, uint8 direction, uint16 confidenceBps, uint16 pUpBps, uint64 btcPriceCents))',
      );
      expect(text).toContain('HOLD 0, BUY 1, SELL 2');
      expect(text).not.toMatch(/undefined|NaN|\[object/);
    });
  });

  it('the icon has no script and no external resource', () => {
    expect(ICON_SVG).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    expect(ICON_SVG).not.toMatch(/script|href|on\w+=|url\(/i);
  });
});
