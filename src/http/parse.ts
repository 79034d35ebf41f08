import type { Request } from 'express';
import type { z } from 'zod';
import { OracleError } from '../errors.ts';
import { parseInput } from '../parse-input.ts';
import type { Route, RouteInput } from './route.ts';
import { rejectUnknownPaging } from './unknown-paging.ts';

type Parsed = Record<string, unknown>;
type Place = 'path' | 'query' | 'body';

const NAMES: Record<Place, string> = { path: 'path parameter', query: 'query parameter', body: 'body field' };

type Declared = Pick<Route, 'params' | 'query' | 'body' | 'bodyOptional' | 'json'> &
  Partial<Pick<Route, 'method' | 'cost' | 'reply' | 'alternatives'>>;

/** The parts of a request as its route declares them. @throws OracleError INPUT_INVALID naming the first field at fault. */
export function parseRequest(
  { params, query, body, bodyOptional, json, ...route }: Declared,
  request: Request,
): Omit<RouteInput<Parsed, Parsed, Parsed>, 'caller' | 'asker' | 'accept' | 'origin' | 'header' | 'isHead'> {
  if (isReadAsJson(route)) rejectUnknownPaging(query, request.query);
  return {
    params: parse(params, request.params, 'path'),
    query: parse(query, request.query, 'query'),
    body: parse(body, body === undefined ? undefined : jsonBody(request, bodyOptional), 'body'),
    json: json === undefined ? undefined : jsonBody(request),
  };
}

/** Operations that clients could page through; HTML pages and health checks accept any parameter. */
function isReadAsJson({ method, cost, reply, alternatives = {} }: Pick<Declared, 'method' | 'cost' | 'reply' | 'alternatives'>): boolean {
  return method === 'get' && cost !== 'free' && reply !== null && !('text/html' in alternatives);
}

function parse(schema: z.ZodObject | undefined, value: unknown, place: Place): Parsed {
  return schema === undefined ? {} : parseInput(schema, value, { what: NAMES[place], whole: place });
}

function jsonBody(request: Request, optional = false): unknown {
  if (request.body !== undefined) return request.body;
  if (optional && !wasSent(request)) return {};
  const type = request.get('content-type');
  // What says nothing of its type is not read either.
  if (type === undefined ? optional : !request.is('application/json')) {
    throw new OracleError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as application/json', {
      field: 'Content-Type',
      suggestedAction: 'Send JSON with Content-Type: application/json.',
    });
  }
  throw new OracleError('INPUT_INVALID', 'The request has no body', {
    field: 'body',
    suggestedAction: 'Send a JSON object with Content-Type: application/json.',
  });
}

/** Whether there is a body at all. */
function wasSent(request: Request): boolean {
  return request.get('transfer-encoding') !== undefined || Number(request.get('content-length') ?? 0) > 0;
}
