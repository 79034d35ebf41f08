import { z } from 'zod';
import type { oas31, ZodOpenApiPathsObject } from 'zod-openapi';
import { PUSHED_NAMES } from '../../events/event-names.ts';
import { EVENT_ENVELOPE, PAYLOADS } from '../../events/event-payloads.ts';
import { toPascalCase } from '../../transports/http/openapi/components/pascal-case.ts';
import { buildOpenApiDocument } from '../../transports/http/openapi/document.ts';
import { allRoutes } from '../../transports/http/routes.ts';
import type { Route } from '../../transports/http/server/route.ts';

/** Document that the types of clients/typescript are generated from: operations and schemas of the service, and its events. */
export function buildClientDocument(): oas31.OpenAPIObject {
  const routes = describeRoutes().filter(({ access, isWebSocket }) => access !== 'admin' && isWebSocket !== true);
  const document = buildOpenApiDocument(routes, { publicUrl: 'https://oracle.example.com' });
  const { components = {}, paths = {} } = document;
  for (const operation of listOperations(paths)) leaveOutOfTypes(operation.responses);
  leaveOutOfTypes(components.responses);
  delete components.headers;
  delete components.examples;
  Object.assign(components.schemas ?? {}, buildEventSchemas());
  return document;
}

/** Routes read their dependencies when they handle a request: here any property is there, and nothing is handled. */
export function describeRoutes(): Route[] {
  const anything: object = new Proxy(() => undefined, {
    get: (_, name) => (name === Symbol.toPrimitive ? () => '' : anything),
    apply: () => anything,
  });
  return allRoutes(anything as Parameters<typeof allRoutes>[0]);
}

function listOperations(paths: object): oas31.OperationObject[] {
  return Object.values(paths as ZodOpenApiPathsObject).flatMap((item) => Object.values(item) as oas31.OperationObject[]);
}

/** Headers and examples would be two thirds of the types; a client without a cache of its own never sees 304. */
function leaveOutOfTypes(responses: object = {}): void {
  for (const response of Object.values(responses) as oas31.ResponseObject[]) {
    delete response.headers;
    for (const media of Object.values(response.content ?? {})) {
      delete media.example;
      delete media.examples;
    }
  }
  delete (responses as Record<string, unknown>)['304'];
  delete (responses as Record<string, unknown>).NotModified;
}

/** `SignalNewEvent` and so on. */
function buildEventSchemas(): Record<string, object> {
  return Object.fromEntries(
    PUSHED_NAMES.map((name) => {
      const event = z.object({ ...EVENT_ENVELOPE, type: z.literal(name), data: PAYLOADS[name] });
      const { $schema: _, ...schema } = z.toJSONSchema(event, { io: 'input' });
      return [`${toPascalCase(name)}Event`, schema];
    }),
  );
}
