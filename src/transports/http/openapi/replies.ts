import type { ZodOpenApiContentObject, ZodOpenApiMediaTypeObject, ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import type { Route } from '../server/route.ts';
import { EXAMPLES } from './examples.ts';
import { buildSuccessHeaders } from './headers.ts';
import { buildProblemReplies } from './problem-replies.ts';

export function buildReplies(route: Route): ZodOpenApiResponsesObject {
  const byStatus = new Map<number, ZodOpenApiResponseObject>([[route.status, buildSuccessReply(route)], ...buildOtherReplies(route)]);
  if (isCacheable(route)) byStatus.set(304, NOT_MODIFIED);
  const problems = buildProblemReplies(route);
  for (const [status, problem] of problems.byStatus) byStatus.set(status, mergeReplies(byStatus.get(status), problem));
  const listed = Object.fromEntries([...byStatus].sort(([a], [b]) => a - b));
  return { ...listed, default: problems.fallback } as ZodOpenApiResponsesObject;
}

/** Caches keep public responses only: a 304 occurs there alone. */
function isCacheable({ method, access }: Route): boolean {
  return method === 'get' && access === 'public';
}

const NOT_MODIFIED: ZodOpenApiResponseObject = {
  id: 'NotModified',
  description: 'Not modified since the tag of If-None-Match',
  headers: buildSuccessHeaders({ access: 'public', cost: 'normal', method: 'get' }),
};

const TEXT = { type: 'string' } as const;

function buildSuccessReply(route: Route): ZodOpenApiResponseObject {
  const { status, reply, alternatives = {} } = route;
  const also = Object.entries(alternatives).map(([type, { description }]) => `As \`${type}\`: ${description}`);
  const content: ZodOpenApiContentObject = {};
  if (reply !== null) content['application/json'] = { schema: reply, ...pickExample(route, status, 'application/json') };
  for (const [type, { schema = TEXT }] of Object.entries(alternatives)) content[type] = { schema, ...pickExample(route, status, type) };
  return {
    description: ['Success', ...also].join('\n\n'),
    headers: buildSuccessHeaders(route),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
}

function buildOtherReplies(route: Route): [number, ZodOpenApiResponseObject][] {
  return Object.entries(route.otherReplies ?? {}).map(([status, { description, schema }]) => {
    const json: ZodOpenApiContentObject = { 'application/json': { schema, ...pickExample(route, Number(status), 'application/json') } };
    return [Number(status), { description, headers: buildSuccessHeaders(route), ...(schema === undefined ? {} : { content: json }) }];
  });
}

/** Longer examples would bloat the document. */
const MAX_EXAMPLE_LENGTH = 800;

function pickExample({ name }: Route, status: number, mediaType: string): Pick<ZodOpenApiMediaTypeObject, 'example'> {
  const example = EXAMPLES.replies[name]?.[status]?.[mediaType];
  return example !== undefined && JSON.stringify(example).length <= MAX_EXAMPLE_LENGTH ? { example } : {};
}

/** A status may have a reply and a problem document, by media type. */
function mergeReplies(own: ZodOpenApiResponseObject | undefined, problem: ZodOpenApiResponseObject): ZodOpenApiResponseObject {
  if (own === undefined) return problem;
  return {
    ...own,
    description: `${own.description}\n\n${problem.description}`,
    headers: { ...(own.headers as object), ...(problem.headers as object) },
    content: { ...own.content, ...problem.content },
  };
}
