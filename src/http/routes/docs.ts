import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { z } from 'zod';
import { ENDPOINTS, IDENTITY } from '../../../agent-card/endpoints.ts';
import { ERROR_CODES, type ErrorCode } from '../../errors.ts';
import { buildAsyncApiDocument } from '../../events/asyncapi.ts';
import { el, type Markup } from '../../page/markup.ts';
import { namedObject } from '../../platform/validation.ts';
import { API_VERSION, listErrorCodes, renderOpenApiDocument } from '../openapi/document.ts';
import { PROBLEMS } from '../problems.ts';
import { buildCanonicalLink, CANONICAL_RULE, createStaticReply, EncodedText, type Reply } from '../replies.ts';
import { type AccessLevel, type Route, route, TAGS } from '../route.ts';
import type { Services } from '../services.ts';
import { PAGE_CSP, renderPage } from './home.ts';
import { HANDSHAKE_QUERY } from './websocket.ts';

export function asyncApiRoutes({ publicUrl, chain }: Services): Route[] {
  const { name: title, description } = IDENTITY;
  return [
    route(`GET ${ENDPOINTS.asyncApi}`, 'getAsyncApi', {
      tag: 'service',
      summary: 'AsyncAPI 3.1 document of all WebSocket and webhook events',
      description: 'Generated from the message schemas, with validated examples.',
      reply: ASYNCAPI_DOCUMENT,
      handle: createJsonReply(() =>
        JSON.stringify(
          buildAsyncApiDocument({
            publicUrl,
            chainId: chain.chainId,
            title,
            description,
            version: API_VERSION,
            handshake: HANDSHAKE_QUERY,
          }),
        ),
      ),
    }),
  ];
}

/** A JSON document that is constant within a process; caches keep it for five minutes. */
function createJsonReply(renderDocument: () => string): () => Reply<never> {
  const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'public, max-age=300' };
  return createStaticReply(renderDocument, () => headers);
}

const OPENAPI_DOCUMENT = namedObject('OpenapiDocument', {
  openapi: z.literal('3.1.0').describe('OpenAPI version'),
  info: z
    .looseObject({ title: z.string().describe('Name of the service'), version: z.string().describe('API version') })
    .describe('Document type'),
  servers: z.array(z.looseObject({ url: z.url().describe('Base URL') })).describe('Base URLs'),
  tags: z
    .array(z.looseObject({ name: z.string().describe('Group name'), description: z.string().describe('Topics') }))
    .describe('Groups of operations'),
  paths: z.record(z.string(), z.unknown()).describe('Operations by path and method'),
  components: z.record(z.string(), z.unknown()).describe('Shared schemas, headers, examples and security schemes'),
});

const ASYNCAPI_DOCUMENT = namedObject('AsyncapiDocument', {
  asyncapi: z.literal('3.1.0').describe('AsyncAPI version'),
  info: z
    .looseObject({ title: z.string().describe('Name of the service'), version: z.string().describe('API version') })
    .describe('Document type'),
  defaultContentType: z.literal('application/json').describe('Media type of all messages'),
  servers: z.record(z.string(), z.unknown()).describe('Servers'),
  channels: z.record(z.string(), z.unknown()).describe('WebSocket and webhooks, with their messages'),
  operations: z.record(z.string(), z.unknown()).describe('Messages sent and received'),
  components: z.record(z.string(), z.unknown()).describe('Messages with examples, payload schemas, security schemes'),
});

/** Lies beside this file. */
const OWN_STYLE = 'reference.css';

/** The OpenAPI document and its viewer. @param listRoutes all mounted operations, these included */
export function referenceRoutes({ publicUrl, contact }: Services, listRoutes: () => readonly Route[]): Route[] {
  const style = createStaticReply(
    () => readFileSync(new URL(`../assets/${OWN_STYLE}`, import.meta.url), 'utf8'),
    () => ({ 'Content-Type': UI_TYPES['swagger-ui.css'] }),
  );
  const document = createJsonReply(() => renderOpenApiDocument(listRoutes(), { publicUrl, contact }));
  return [
    route(`GET ${ENDPOINTS.openApi}`, 'getOpenApi', {
      tag: 'service',
      summary: 'OpenAPI 3.1 document of this API',
      description: 'Generated from the mounted operations.',
      reply: OPENAPI_DOCUMENT,
      handle: document,
    }),
    route(`GET ${ENDPOINTS.openApiRoot}`, 'getOpenApiAtRoot', {
      tag: 'service',
      summary: 'The same, where directories of paid services read it',
      description: CANONICAL_RULE,
      reply: OPENAPI_DOCUMENT,
      handle() {
        const reply = document();
        return { ...reply, headers: { ...reply.headers, ...buildCanonicalLink(publicUrl, ENDPOINTS.openApi) } };
      },
    }),
    route('GET /docs', 'getReferencePage', {
      tag: 'service',
      summary: 'API reference for browsers',
      description: 'Operations can be tried out. Works offline: all assets come from this service.',
      reply: null,
      alternatives: { 'text/html': { description: 'The page.' } },
      handle: createStaticReply(
        () => renderReferencePage({ publicUrl }),
        () => ({ 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': buildReferenceCsp({ publicUrl }) }),
      ),
    }),
    route('GET /docs/{file}', 'getReferencePageFile', {
      tag: 'service',
      summary: 'Asset of the API reference',
      params: z.object({ file: z.enum([...UI_FILES, OWN_STYLE], 'is no file of this page').describe('Name of the file') }),
      reply: null,
      alternatives: { 'text/css': { description: 'A style sheet.' }, 'text/javascript': { description: 'A script.' } },
      async handle({ params: { file } }) {
        if (file === OWN_STYLE) return style();
        const headers = { 'Content-Type': UI_TYPES[file], 'Cache-Control': 'public, max-age=86400', ETag: UI_ETAG };
        return { headers, encoded: await readUiFile(file) };
      },
    }),
  ];
}

const ACCESS_LABELS: Record<AccessLevel, string> = {
  public: 'Public',
  basic: 'Basic',
  premium: 'Premium',
  paid: 'Paid',
  admin: 'Operator',
};

/**
 * The policy of all pages, but for Swagger UI, which sets inline styles and assigns HTML. All resources come from this origin; "Try it out"
 * calls the server URL of the document.
 */
export function buildReferenceCsp({ publicUrl }: { publicUrl: string }): string {
  const own: Record<string, string | null> = {
    'style-src': "'self' 'unsafe-inline'",
    'connect-src': `'self' ${new URL(publicUrl).origin}`,
    'require-trusted-types-for': null,
  };
  const kept = PAGE_CSP.split('; ').filter((directive) => !(directive.split(' ')[0]! in own));
  const changed = Object.entries(own).flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]));
  return [...kept, ...changed, "font-src 'self' data:"].join('; ');
}

export function renderReferencePage({ publicUrl }: { publicUrl: string }): string {
  return renderPage(publicUrl, {
    title: 'API reference',
    description: 'All operations of the service, to try out.',
    path: 'docs',
    kind: 'reference',
    head: [
      el('link', { rel: 'alternate', type: 'application/json', href: '.well-known/openapi.json' }),
      el('link', { rel: 'stylesheet', href: 'docs/swagger-ui.css' }),
      el('link', { rel: 'stylesheet', href: 'docs/reference.css' }),
    ],
    body: [
      el('main', { id: 'main', class: 'reference', tabindex: -1 }, [
        el('nav', { class: 'way-back', 'aria-label': 'Breadcrumb' }, [
          el('a', { href: './' }, 'Today'),
          el('span', { 'aria-current': 'page' }, 'API'),
          el('a', { class: 'as-markdown', href: 'documents/api' }, 'API guide'),
        ]),
        el('h1', {}, 'API reference'),
        renderFilter(),
        el('div', { id: 'reference' }),
        el('noscript', {}, [
          el('p', { class: 'notice' }, [
            'This page needs JavaScript. The same is in ',
            el('a', { href: '.well-known/openapi.json' }, 'openapi.json'),
            '.',
          ]),
        ]),
      ]),
      // Not deferred: the script of the page, which starts it, is.
      el('script', { src: 'docs/swagger-ui-bundle.js' }),
    ],
  });
}

/** The script applies it on each input. */
function renderFilter(): Markup {
  return el('form', { id: 'reference-filter', class: 'reference-filter', role: 'search', 'aria-label': 'Operations' }, [
    el('label', {}, 'Find ', el('input', { type: 'search', name: 'text', autocomplete: 'off' })),
    renderSelect(
      'tag',
      'Topic',
      Object.keys(TAGS).map((tag) => [tag, tag]),
    ),
    renderSelect('access', 'Access', Object.entries(ACCESS_LABELS)),
    el('p', { id: 'reference-count', role: 'status' }),
    el('p', { class: 'quiet' }, 'Padlock: takes a token or a payment.'),
  ]);
}

function renderSelect(name: string, label: string, choices: readonly (readonly [value: string, label: string])[]): Markup {
  const options = [['', 'all'] as const, ...choices].map(([value, text]) => el('option', { value }, text));
  return el('label', {}, `${label} `, el('select', { name }, options));
}

const require = createRequire(import.meta.url);

/** Media types of the Swagger UI files that are served. */
const UI_TYPES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
} as const;

type UiFile = keyof typeof UI_TYPES;

const UI_FILES = Object.keys(UI_TYPES) as UiFile[];

const { version: UI_VERSION } = require('swagger-ui-dist/package.json') as { version: string };

const UI_ETAG = `"swagger-ui-${UI_VERSION}"`;

const files = new Map<UiFile, Promise<EncodedText>>();

/** Reads a file on first use, as the files are large and rarely requested. A failed read is retried. */
function readUiFile(name: UiFile): Promise<EncodedText> {
  const file = files.get(name) ?? readFile(require.resolve(`swagger-ui-dist/${name}`), 'utf8').then((text) => new EncodedText(text));
  files.set(name, file);
  // Such as EMFILE.
  file.catch(() => files.delete(name));
  return file;
}

/** Errors of any path, declared or not. */
const EVERYWHERE: readonly ErrorCode[] = ['NOT_FOUND', 'METHOD_NOT_ALLOWED'];

/** Markdown table of all errors that clients can receive, by status. */
export function renderProblemsTable(routes: readonly Route[]): string {
  const codes = [...new Set([...EVERYWHERE, ...routes.flatMap(listErrorCodes)])];
  const rows = codes
    .toSorted((a, b) => PROBLEMS[a].status - PROBLEMS[b].status || a.localeCompare(b, 'en'))
    .map((code) => {
      const { status, title } = PROBLEMS[code];
      return `| ${status} | \`${code}\` | ${ERROR_CODES[code].retryable ? 'yes' : 'no'} | ${title} |`;
    });
  return ['| Status | `code` | Retry | Meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}
