import type { Request } from 'express';
import type { z } from 'zod';
import { OracleError } from '../errors.ts';
import type { Route, RouteInput } from './route.ts';

type Parsed = Record<string, unknown>;
type Place = 'path' | 'query' | 'body';

const NAMES: Record<Place, string> = { path: 'path parameter', query: 'query parameter', body: 'body field' };

/** The parts of a request as its route declares them. @throws OracleError INPUT_INVALID naming the first field at fault. */
export function parseRequest(
  { params, query, body }: Pick<Route, 'params' | 'query' | 'body'>,
  request: Request,
): Omit<RouteInput<Parsed, Parsed, Parsed>, 'caller' | 'accept' | 'origin'> {
  return {
    params: parse(params, request.params, 'path'),
    query: parse(query, request.query, 'query'),
    body: parse(body, body === undefined ? undefined : jsonBody(request), 'body'),
  };
}

function parse(schema: z.ZodObject | undefined, value: unknown, place: Place): Parsed {
  if (schema === undefined) return {};
  const parsed = schema.safeParse(value, { error: inWords });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.length ? issue.path.join('.') : (unknownKey(issue) ?? place);
  throw new OracleError('INPUT_INVALID', `${NAMES[place]} "${shortened(field)}": ${issue?.message ?? 'not valid'}`, {
    field: shortened(field),
  });
}

/** What is said where a schema has no words of its own. */
const inWords: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type') return issue.input === undefined ? 'is missing' : `must be of the type ${issue.expected}`;
  return issue.code === 'unrecognized_keys' ? 'is not known here' : undefined;
};

function unknownKey(issue: z.core.$ZodIssue | undefined): string | undefined {
  return issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
}

/** A name may be the caller's own, of any length. */
function shortened(field: string): string {
  return field.length > 100 ? `${field.slice(0, 100)}...` : field;
}

function jsonBody(request: Request): unknown {
  if (request.body !== undefined) return request.body;
  const type = request.get('content-type');
  if (type !== undefined && !request.is('application/json')) {
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
