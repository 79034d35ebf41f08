import type { Request } from 'express';
import type { z } from 'zod';
import { OracleError } from '../../../../platform/errors.ts';
import { parseInput } from '../../../../platform/validation/parse-input.ts';
import type { Route, RouteInput } from '../route.ts';
import { rejectUnknownPaging } from './unknown-paging.ts';

type Parsed = Record<string, unknown>;
type RequestPart = 'path' | 'query' | 'body';

const PART_NAMES: Record<RequestPart, string> = { path: 'path parameter', query: 'query parameter', body: 'body field' };

type RequestSchemas = Pick<Route, 'params' | 'query' | 'body' | 'bodyOptional' | 'json'> &
  Partial<Pick<Route, 'method' | 'cost' | 'reply' | 'alternatives'>>;

/** The parts of a request as its route declares them. @throws OracleError INPUT_INVALID naming the first field at fault. */
export function parseRequest(
  { params, query, body, bodyOptional, json, ...route }: RequestSchemas,
  request: Request,
): Omit<RouteInput<Parsed, Parsed, Parsed>, 'caller' | 'context' | 'accept' | 'source' | 'header' | 'isHead'> {
  if (isPageable(route)) rejectUnknownPaging(query, request.query);
  return {
    params: parsePart(params, request.params, 'path'),
    query: parsePart(query, request.query, 'query'),
    body: parsePart(body, body === undefined ? undefined : requireJsonBody(request, bodyOptional), 'body'),
    json: json === undefined ? undefined : requireJsonBody(request),
  };
}

/** Operations that clients could page through; HTML pages and health checks accept any parameter. */
function isPageable({
  method,
  cost,
  reply,
  alternatives = {},
}: Pick<RequestSchemas, 'method' | 'cost' | 'reply' | 'alternatives'>): boolean {
  return method === 'get' && cost !== 'free' && reply !== null && !('text/html' in alternatives);
}

function parsePart(schema: z.ZodObject | undefined, value: unknown, place: RequestPart): Parsed {
  return schema === undefined ? {} : parseInput(schema, value, { kind: PART_NAMES[place], root: place });
}

function requireJsonBody(request: Request, optional = false): unknown {
  if (request.body !== undefined) return request.body;
  if (optional && !hasBody(request)) return {};
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
function hasBody(request: Request): boolean {
  return request.get('transfer-encoding') !== undefined || Number(request.get('content-length') ?? 0) > 0;
}
