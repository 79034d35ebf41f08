import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { createDocument, type oas31, type ZodOpenApiPathsObject } from 'zod-openapi';
import { IDENTITY } from '../../../agent-card/endpoints.ts';
import { type Route, TAGS } from '../route.ts';
import { buildOperation, SECURITY_SCHEMES } from './operation.ts';
import { PREPARED_OPERATIONS } from './prepared-operations.ts';
import { HEADERS } from './replies.ts';
import { adjustSchema, compactSchemas } from './schemas.ts';

/** Interface, section 9: paths carry no version. */
export const API_VERSION = '1.0.0';

const INTRODUCTION = `
Forecasts cover 1, 2, 3 and 7 days and are made daily at about 21:35 UTC. To get a token, log in as below, or run
\`npm run -s token -- premium\` for a demonstration service.

**Tiers.** Public operations need no authentication. A wallet that holds gate tokens logs in with a signature
(\`POST /api/svc/oracle/verify\`) and sends the token as \`Authorization: Bearer <token>\`. Until its outcome, direction and confidence
of a forecast are visible from the Basic tier on; other callers read \`GATED\` and null.

**Payments.** \`GET /oracle\` and \`GET /oracle/premium\` need no account: without a payment they answer 402 with the x402 requirements, version 2 in
\`PAYMENT-REQUIRED\` and version 1 in the body. Repeat the request with the signed payment in \`PAYMENT-SIGNATURE\`, \`X-PAYMENT\` or
\`X-402-Payment\` to get the answer with a signed receipt. Failed requests are not charged. See \`/.well-known/x402.json\`.

**Events** are pushed over the WebSocket \`/ws/signal\` and to webhooks; see \`/.well-known/asyncapi.json\`.

**Errors** are \`application/problem+json\` (RFC 9457): \`code\` is machine-readable, \`field\` names the invalid input, \`retryable\` says
whether the same request may succeed later, \`suggestedAction\` what to do.

**Rate limits** apply per IP address, or per wallet with a token. Every metered response has \`RateLimit\` (remaining quota) and
\`RateLimit-Policy\` (quota), in whole units: a request takes one unless its operation says otherwise, and a tenth where the same
answer was sent within the last second.

**Caching.** Every success has \`Cache-Control\`. Those of GET that may be kept have an \`ETag\`: sent as \`If-None-Match\`, it is answered
with 304 while the content is the same.

**Rejected tokens.** A public operation treats a rejected token as none, and says so in \`WWW-Authenticate\` (RFC 6750, section 3.1).

**Request ids.** Every response has \`X-Request-Id\`: that of the request if valid, else a generated one. A W3C
\`traceparent\` is continued in the log, and in the webhooks and A2A notifications that the request causes; an invalid one is ignored.

**Formats.** Times are ISO 8601 in UTC, days \`YYYY-MM-DD\`, probabilities 0 to 1; basis points are named as such. Amounts of tokens and money
are decimal strings, or integers of the smallest unit. Members of replies have types here; the TypeScript client describes each.

**Compatibility.** Replies may gain fields: ignore unknown ones. No field is removed or changes its meaning within a version. Unknown
query parameters are ignored, unknown body fields are rejected.
`.trim();

type Operations = Pick<oas31.OpenAPIObject, 'tags' | 'paths' | 'components'>;

interface DocumentOptions {
  publicUrl: string;
  /** E-mail address or https URL of the operator; unset: the public URL. */
  contact?: string | undefined;
  /** Members of replies have descriptions and bounds, as the types of a client show them; without, the document is half as long. */
  describesReplies?: boolean;
}

export function buildOpenApiDocument(routes: readonly Route[], options: DocumentOptions): oas31.OpenAPIObject {
  return { ...buildHead(options), ...buildOperations(routes, options.describesReplies) };
}

/** JSON of the document. Its operations, which take most of a second to build, are read from the bundle of the service where it has them. */
export function renderOpenApiDocument(routes: readonly Route[], options: DocumentOptions): string {
  const prepared = PREPARED_OPERATIONS[listNames(routes)];
  const operations =
    prepared === undefined ? JSON.stringify(buildOperations(routes)) : brotliDecompressSync(Buffer.from(prepared, 'base64')).toString();
  return `${JSON.stringify(buildHead(options)).slice(0, -1)},${operations.slice(1)}`;
}

/** An entry of `PREPARED_OPERATIONS`. */
export function prepareOperations(routes: readonly Route[]): [names: string, compressed: string] {
  return [listNames(routes), brotliCompressSync(JSON.stringify(buildOperations(routes))).toString('base64')];
}

const listNames = (routes: readonly Route[]) => routes.map(({ name }) => name).join();

/** The part that depends on settings. */
function buildHead({ publicUrl, contact }: DocumentOptions): Omit<oas31.OpenAPIObject, keyof Operations> {
  return {
    openapi: '3.1.0',
    info: {
      title: IDENTITY.name,
      version: API_VERSION,
      summary: IDENTITY.description,
      description: INTRODUCTION,
      contact: { name: IDENTITY.name, ...toContact(publicUrl, contact) },
      license: { name: 'MIT', identifier: 'MIT' },
      // Of OpenAPI 3.1; the type is that of 3.0.
    } as oas31.InfoObject,
    servers: [{ url: publicUrl.replace(/\/$/, '') }],
  };
}

function toContact(publicUrl: string, contact: string | undefined): oas31.ContactObject {
  if (contact === undefined) return { url: publicUrl };
  return URL.canParse(contact) ? { url: contact } : { url: publicUrl, email: contact };
}

function buildOperations(routes: readonly Route[], describesReplies = false): Operations {
  const used = new Set<string>(routes.map(({ tag }) => tag));
  // In declared order.
  const tagsInUse = Object.entries(TAGS).filter(([name]) => used.has(name));
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: { title: '', version: '' },
      tags: tagsInUse.map(([name, description]) => ({ name, description })),
      paths: buildPaths(routes),
      components: { headers: HEADERS, securitySchemes: pickSecuritySchemes(routes) },
    },
    { override: adjustSchema },
  ) as oas31.OpenAPIObject;
  const { tags, paths, components } = compactSchemas(document, describesReplies);
  return { tags, paths, components };
}

function buildPaths(routes: readonly Route[]): ZodOpenApiPathsObject {
  const byPath = Map.groupBy(routes, ({ path }) => path);
  return Object.fromEntries(
    [...byPath].map(([path, operations]) => [path, Object.fromEntries(operations.map((route) => [route.method, buildOperation(route)]))]),
  );
}

function pickSecuritySchemes(routes: readonly Route[]): Partial<typeof SECURITY_SCHEMES> {
  const { walletToken, webSocketToken, webSocketTicket, operator } = SECURITY_SCHEMES;
  const hasWebSocket = routes.some(({ isWebSocket }) => isWebSocket === true);
  const hasOperator = routes.some(({ access }) => access === 'admin');
  return { walletToken, ...(hasWebSocket ? { webSocketToken, webSocketTicket } : {}), ...(hasOperator ? { operator } : {}) };
}
