import type { Request } from 'express';
import type { z } from 'zod';
import { OracleError } from '../../../../platform/errors.ts';
import { parseInput } from '../../../../platform/validation/parse-input.ts';
import type { Route, RouteInput } from '../route.ts';

/** Paging parameters of common APIs, in lower case without `_` and `-`. */
const PAGING_NAMES = new Set(
  'page pageno pagenumber perpage pagesize pagetoken nexttoken continuationtoken cursor nextcursor before nextbefore after skip start from offset limit count size take first last'.split(
    ' ',
  ),
);

/** Longest name that an error echoes; all names of the list are shorter. */
const MAX_NAME_CHARS = 30;

type Parsed = Record<string, unknown>;

const PART_NAMES = { path: 'path parameter', query: 'query parameter', body: 'body field' } as const;

type RequestSchemas = Pick<Route, 'params' | 'query' | 'body' | 'bodyOptional' | 'json'> &
  Partial<Pick<Route, 'method' | 'cost' | 'reply' | 'alternatives'>>;

/** Parses path, query and body by the schemas of a route. @throws OracleError INPUT_INVALID naming the first invalid field */
export function parseRequest(
  route: RequestSchemas,
  request: Request,
): Pick<RouteInput<Parsed, Parsed, Parsed>, 'params' | 'query' | 'body' | 'json'> {
  const { params, query, body, bodyOptional, json } = route;
  if (isPageable(route)) rejectUnknownPaging(query, request.query);
  return {
    params: parsePart(params, request.params, 'path'),
    query: parsePart(query, request.query, 'query'),
    body: parsePart(body, body === undefined ? undefined : requireJsonBody(request, bodyOptional), 'body'),
    json: json === undefined ? undefined : requireJsonBody(request),
  };
}

/** Whether a client could page through an operation; HTML pages and health checks accept any parameter. */
function isPageable({ method, cost, reply, alternatives = {} }: RequestSchemas): boolean {
  return method === 'get' && cost !== 'free' && reply !== null && !('text/html' in alternatives);
}

function parsePart(schema: z.ZodObject | undefined, value: unknown, place: keyof typeof PART_NAMES): Parsed {
  return schema === undefined ? {} : parseInput(schema, value, { kind: PART_NAMES[place], root: place });
}

function requireJsonBody(request: Request, optional = false): unknown {
  if (request.body !== undefined) return request.body;
  if (optional && !hasBody(request)) return {};
  const type = request.get('content-type');
  // The parser skips a body without a Content-Type.
  if (type === undefined ? optional : !request.is('application/json')) {
    throw new OracleError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as application/json', {
      field: 'Content-Type',
      suggestedAction: 'Send JSON with Content-Type: application/json.',
    });
  }
  const suggestedAction = 'Send a JSON object with Content-Type: application/json.';
  throw new OracleError('INPUT_INVALID', 'The request has no body', { field: 'body', suggestedAction });
}

function hasBody(request: Request): boolean {
  return request.get('transfer-encoding') !== undefined || Number(request.get('content-length') ?? 0) > 0;
}

/** Ignored, it would return the first page for every page. @throws OracleError INPUT_INVALID naming it and the parameters taken */
function rejectUnknownPaging(schema: z.ZodObject | undefined, query: object): void {
  const taken = Object.keys(schema?.shape ?? {});
  const unknown = Object.keys(query).find((name) => !taken.includes(name) && isPagingName(name));
  if (unknown === undefined) return;
  const accepted = taken.length === 0 ? 'no query parameters' : taken.join(', ');
  throw new OracleError('INPUT_INVALID', `query parameter "${unknown}": is unknown; this operation takes ${accepted}`, {
    field: unknown,
    suggestedAction:
      taken.length === 0 ? `Omit "${unknown}": the response has one page.` : `Omit "${unknown}", or send one of: ${accepted}.`,
  });
}

function isPagingName(name: string): boolean {
  return name.length <= MAX_NAME_CHARS && PAGING_NAMES.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
}
