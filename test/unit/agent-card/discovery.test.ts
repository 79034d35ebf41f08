import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildAgentCard } from '../../../agent-card/card.ts';
import {
  buildAiCatalog,
  buildApiCatalog,
  buildMcpServerCard,
  buildMcpServerFile,
  buildRegistrationFile,
  formatCatalogLinks,
} from '../../../agent-card/documents.ts';
import { ENDPOINTS, INTERFACES, listInterfaces, MCP_VERSIONS, type ServiceInterface } from '../../../agent-card/endpoints.ts';
import { renderLlmsText } from '../../../agent-card/skill-documents.ts';
import { FORECAST_TERMS } from '../../../src/commerce/offerings.ts';
import { WEBSOCKET } from '../../../src/events/events.ts';
import { STANDARDS } from '../../../src/http/routes/info.ts';
import { buildX402Document, buildX402Resources } from '../../../src/http/routes/paid.ts';
import { declaredRoutes } from '../../../src/http/routes.ts';
import { MERCHANT } from '../../support/commerce/paid-quotes.ts';

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
  ...{ merchant: MERCHANT, facilitatorUrl: null, receiptSigner: MERCHANT.payee },
  readForecastTerms: async () => ({ text: FORECAST_TERMS, revealedCalls: [] }),
} as never;
const x402Document = await buildX402Document({ commerce, publicUrl: BASE });

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
    ['the bare list of x402', buildX402Resources(source), x402.endpoints.map(at)],
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
