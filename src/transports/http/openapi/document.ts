import { createDocument, type oas31, type ZodOpenApiPathsObject } from 'zod-openapi';
import { IDENTITY } from '../../../../agent-card/identity.ts';
import { type AccessLevel, type Route, TAGS, type Tag } from '../server/route.ts';
import { adjustSchema } from './adjust-schema.ts';
import { nameSchemas } from './components/name-schemas.ts';
import { EXAMPLES } from './examples.ts';
import { HEADERS } from './headers.ts';
import { INTRODUCTION } from './introduction.ts';
import { buildOperation } from './operation.ts';
import { PROBLEM } from './problem-schema.ts';
import { SECURITY_SCHEMES } from './security-schemes.ts';

/** Interface, section 9: paths carry no version. */
export const API_VERSION = '1.0.0';

export function buildOpenApiDocument(routes: readonly Route[], { publicUrl }: { publicUrl: string }): oas31.OpenAPIObject {
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: IDENTITY.name,
        version: API_VERSION,
        summary: IDENTITY.description,
        description: INTRODUCTION,
        contact: { name: IDENTITY.name, url: publicUrl },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: publicUrl.replace(/\/$/, '') }],
      tags: listTags(routes),
      paths: buildPaths(routes),
      components: {
        schemas: { Problem: PROBLEM },
        headers: HEADERS,
        examples: buildProblemExamples(),
        securitySchemes: pickSecuritySchemes(routes),
      },
    },
    { override: adjustSchema },
  ) as oas31.OpenAPIObject;
  return nameSchemas(document);
}

function buildPaths(routes: readonly Route[]): ZodOpenApiPathsObject {
  const byPath = Map.groupBy(routes, ({ path }) => path);
  return Object.fromEntries(
    [...byPath].map(([path, operations]) => [path, Object.fromEntries(operations.map((route) => [route.method, buildOperation(route)]))]),
  );
}

/** Tags in use, in declared order. */
function listTags(routes: readonly Route[]): oas31.TagObject[] {
  const used = new Set<Tag>(routes.map(({ tag }) => tag));
  return (Object.keys(TAGS) as Tag[]).filter((name) => used.has(name)).map((name) => ({ name, description: TAGS[name] }));
}

function pickSecuritySchemes(routes: readonly Route[]): Partial<typeof SECURITY_SCHEMES> {
  const { walletToken, webSocketToken, webSocketTicket, operator, ...payments } = SECURITY_SCHEMES;
  const uses = (access: AccessLevel) => routes.some((route) => route.access === access);
  const hasWebSocket = routes.some(({ isWebSocket }) => isWebSocket === true);
  const ofWebSocket = hasWebSocket ? { webSocketToken, webSocketTicket } : {};
  return { walletToken, ...ofWebSocket, ...(uses('paid') ? payments : {}), ...(uses('admin') ? { operator } : {}) };
}

function buildProblemExamples(): Record<string, oas31.ExampleObject> {
  return Object.fromEntries(Object.entries(EXAMPLES.problems).map(([code, value]) => [code, { value }]));
}
