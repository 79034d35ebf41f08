import type { Express, Request, Response } from 'express';
import type { z } from 'zod';
import { OracleError } from '../errors.ts';
import { type Caller, PUBLIC_CALLER } from '../record/caller.ts';
import { namesEtag } from './etag.ts';
import { sendProblem } from './problem.ts';

type Shape = z.ZodObject;

/** What a handler gets: parsed parameters, and who asks. */
export interface RouteInput<Params, Query> {
  params: Params;
  query: Query;
  caller: Caller;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  /** Sent as JSON; a string with a `Content-Type` header goes out as it is. */
  body: unknown;
}

/** One GET resource. Paths are written as in OpenAPI: `/verify/{uid}`. */
export interface Route {
  path: string;
  summary: string;
  params?: Shape;
  query?: Shape;
  handle(input: RouteInput<Record<string, unknown>, Record<string, unknown>>): Promise<Reply> | Reply;
}

/** Declares a route with its handler typed by its schemas. */
export function route<P extends Shape = z.ZodObject, Q extends Shape = z.ZodObject>(definition: {
  path: string;
  summary: string;
  params?: P;
  query?: Q;
  handle(input: RouteInput<z.output<P>, z.output<Q>>): Promise<Reply> | Reply;
}): Route {
  return definition as unknown as Route;
}

/** Mounts routes; another method on a known path is refused by name. */
export function mount(app: Express, routes: Route[]): void {
  for (const definition of routes) {
    const path = definition.path.replaceAll(/\{(\w+)\}/g, ':$1');
    app.get(path, (request, response) => answer(definition, request, response));
    app.all(path, (request, response) => {
      response.set('Allow', 'GET, HEAD');
      sendProblem(
        response,
        new OracleError('METHOD_NOT_ALLOWED', `${request.method} is not allowed on ${request.path}`, {
          suggestedAction: 'Use GET or HEAD.',
        }),
      );
    });
  }
}

async function answer(definition: Route, request: Request, response: Response): Promise<void> {
  const input = {
    params: parse(definition.params, request.params, 'path'),
    query: parse(definition.query, request.query, 'query'),
    caller: PUBLIC_CALLER,
  };
  const { status = 200, headers = {}, body } = await definition.handle(input);
  response.status(status).set(headers);
  // The framework heeds the tag only without `Cache-Control: no-cache`, which the fetch of browsers and Node adds of its own.
  if (headers.ETag !== undefined && namesEtag(request.get('If-None-Match'), headers.ETag)) return void response.status(304).end();
  if (typeof body === 'string') response.send(body);
  else response.json(body);
}

function parse(schema: Shape | undefined, value: unknown, place: 'path' | 'query'): Record<string, unknown> {
  if (schema === undefined) return {};
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = String(issue?.path[0] ?? place);
  throw new OracleError('INPUT_INVALID', `${place} parameter "${field}": ${issue?.message ?? 'not valid'}`, { field });
}
