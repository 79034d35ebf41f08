import type { ZodOpenApiContentObject, ZodOpenApiMediaTypeObject, ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import type { Route } from '../server/route.ts';
import { EXAMPLES } from './examples.ts';
import { buildSuccessHeaders } from './headers.ts';
import { buildProblemReplies } from './problem-replies.ts';

/** All answers of an operation, in the order of their status. */
export function buildReplies(route: Route): ZodOpenApiResponsesObject {
  const byStatus = new Map<number, ZodOpenApiResponseObject>([[route.status, buildSuccessReply(route)], ...buildOtherReplies(route)]);
  if (isCacheable(route)) byStatus.set(304, NOT_MODIFIED);
  const problems = buildProblemReplies(route);
  for (const [status, problem] of problems.byStatus) byStatus.set(status, mergeReplies(byStatus.get(status), problem));
  const listed = Object.fromEntries([...byStatus].sort(([a], [b]) => a - b));
  return { ...listed, default: problems.fallback } as ZodOpenApiResponsesObject;
}

/** What is cut to the caller is kept by nobody, and so never asked for again by its tag. */
function isCacheable({ method, access }: Route): boolean {
  return method === 'get' && access === 'public';
}

const NOT_MODIFIED: ZodOpenApiResponseObject = {
  id: 'NotModified',
  description: 'Nothing new since the tag of If-None-Match',
  headers: buildSuccessHeaders({ access: 'public', cost: 'normal', method: 'get' }),
};

function buildSuccessReply(route: Route): ZodOpenApiResponseObject {
  const { status, reply, alternatives = {} } = route;
  const also = Object.entries(alternatives).map(([type, { description }]) => `As \`${type}\`: ${description}`);
  const content: ZodOpenApiContentObject = {};
  if (reply !== null) content['application/json'] = { schema: reply, ...pickExample(route, status, 'application/json') };
  for (const type of Object.keys(alternatives)) content[type] = { schema: { type: 'string' }, ...pickExample(route, status, type) };
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

/** Characters of an example in the document; what is longer is read faster from the operation itself. */
const MAX_EXAMPLE_LENGTH = 800;

function pickExample({ name }: Route, status: number, mediaType: string): Pick<ZodOpenApiMediaTypeObject, 'example'> {
  const example = EXAMPLES.replies[name]?.[status]?.[mediaType];
  return example !== undefined && JSON.stringify(example).length <= MAX_EXAMPLE_LENGTH ? { example } : {};
}

/** A status may mean an answer of the operation's own as well as a problem: the media type tells which. */
function mergeReplies(own: ZodOpenApiResponseObject | undefined, problem: ZodOpenApiResponseObject): ZodOpenApiResponseObject {
  if (own === undefined) return problem;
  return {
    ...own,
    description: `${own.description}\n\n${problem.description}`,
    headers: { ...(own.headers as object), ...(problem.headers as object) },
    content: { ...own.content, ...problem.content },
  };
}
