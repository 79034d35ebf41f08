import type { z } from 'zod';
import { OracleError } from '../../platform/errors.ts';
import { fetchServiceJson } from '../../platform/service-client/service-client.ts';
import { UsageError } from '../../platform/usage-error.ts';
import { parseUrlOption } from './arguments.ts';
import type { CliContext } from './context.ts';
import { readSession } from './secrets/sessions.ts';

const DEADLINE_MS = 30_000;
const MAX_BYTES = 16 * 2 ** 20;
const DEFAULT_URL = 'http://127.0.0.1:3000';
const TOKEN = /^[\w.~+/=-]{1,4096}$/;

/** The service that is asked. @throws Misuse naming `--url` or `SERVICE_URL` */
export function resolveServiceUrl(context: CliContext, url: string | undefined): string {
  if (url !== undefined) return parseUrlOption('--url', url);
  const { SERVICE_URL: configured = '' } = context.environment;
  return configured === '' ? (context.localUrl?.() ?? DEFAULT_URL) : parseUrlOption('SERVICE_URL', configured);
}

/** Whether a call or the environment names the service; otherwise it is that of this folder. */
export function hasServiceOption({ environment }: CliContext, url: string | undefined): boolean {
  return url !== undefined || (environment.SERVICE_URL ?? '') !== '';
}

/** The token to ask with: that of the call, of the environment, or of the login; undefined: as anybody. @throws Misuse */
export async function resolveToken(context: CliContext, url: string, token: string | undefined): Promise<string | undefined> {
  const { ORACLE_TOKEN: set = '' } = context.environment;
  const configured = token ?? (set === '' ? undefined : set);
  if (configured === undefined) return (await readSession(context, url))?.token;
  if (TOKEN.test(configured)) return configured;
  throw new UsageError(token === undefined ? 'ORACLE_TOKEN' : '--token', 'must be an access token, without spaces and without "Bearer"');
}

export interface ServiceQuery<Answer> {
  url: string;
  /** Begins with a slash. */
  path: string;
  token?: string;
  method?: 'GET' | 'DELETE';
  /** What is read of the answer. */
  schema: z.ZodType<Answer>;
}

/** What the service says, read as it should be, and as it came. @throws OracleError in its own words; SERVICE_UNREACHABLE */
export async function queryService<Answer>(query: ServiceQuery<Answer>): Promise<{ answer: Answer; body: unknown }> {
  const { url, path, token, method, schema } = query;
  const body = await fetchServiceJson({ url, path, token, method, deadlineMs: DEADLINE_MS, maxBytes: MAX_BYTES });
  return { answer: parseAnswer(schema, body, { url, path }), body };
}

/** @throws OracleError CONFIG_INVALID where it is none of this service's answers */
export function parseAnswer<Answer>(schema: z.ZodType<Answer>, body: unknown, { url, path }: { url: string; path: string }): Answer {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = `${path.split('?')[0]}: ${issue.path.join('.')}: ${issue.message.slice(0, 200)}`;
  throw new OracleError('CONFIG_INVALID', `What answers at ${url} is not this service, or another version of it: ${where}`, {
    field: 'url',
    suggestedAction: 'Name the address of the service with --url or SERVICE_URL.',
  });
}
