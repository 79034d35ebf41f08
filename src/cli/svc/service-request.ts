import type { z } from 'zod';
import { getErrorMessage, OracleError } from '../../platform/errors.ts';
import { readSecretFile } from '../../platform/secrets/secret-file.ts';
import { fetchServiceJson } from '../../platform/service-client/service-client.ts';
import { UsageError } from '../../platform/usage-error.ts';
import { parseUrlOption } from './arguments.ts';
import type { CliContext } from './context.ts';
import { readSession } from './secrets/sessions.ts';

const DEADLINE_MS = 30_000;
const MAX_BYTES = 16 * 2 ** 20;
export const DEFAULT_URL = 'http://127.0.0.1:3000';
const TOKEN = /^[\w.~+/=-]{1,4096}$/;

/** `--url` (parsed), SERVICE_URL, the service of this folder, or the default. @throws UsageError naming SERVICE_URL */
export async function resolveServiceUrl(context: CliContext, url: string | undefined): Promise<string> {
  if (url !== undefined) return url;
  const { SERVICE_URL: configured = '' } = context.environment;
  return configured === '' ? ((await context.localUrl?.()) ?? DEFAULT_URL) : parseUrlOption('SERVICE_URL', configured);
}

export function hasServiceOption({ environment }: CliContext, url: string | undefined): boolean {
  return url !== undefined || (environment.SERVICE_URL ?? '') !== '';
}

/** The token of the command line, the environment or the stored login; undefined for anonymous requests. @throws UsageError */
export async function resolveToken(context: CliContext, url: string, token: string | undefined): Promise<string | undefined> {
  const configured = token ?? readTokenVariable(context);
  if (configured === undefined) return (await readSession(context, url))?.token;
  if (TOKEN.test(configured)) return configured;
  throw new UsageError(
    token === undefined ? 'ORACLE_TOKEN' : '--token',
    'must be an access token or an API key, without spaces and without "Bearer"',
  );
}

function readTokenVariable({ environment }: CliContext): string | undefined {
  const { ORACLE_TOKEN: token = '', ORACLE_TOKEN_FILE: path = '' } = environment;
  if (path === '') return token === '' ? undefined : token;
  if (token !== '') throw new UsageError('ORACLE_TOKEN', 'is set, and so is ORACLE_TOKEN_FILE', 'Set one of them.');
  try {
    return readSecretFile(path);
  } catch (error) {
    throw new UsageError('ORACLE_TOKEN_FILE', `names the file "${path}", which ${getErrorMessage(error)}`);
  }
}

interface ServiceQuery<Answer> {
  url: string;
  path: `/${string}`;
  token?: string;
  method?: 'GET' | 'DELETE';
  /** Sent by POST. */
  body?: Record<string, unknown>;
  schema: z.ZodType<Answer>;
}

/** The parsed answer and the raw body. @throws OracleError of the service; SERVICE_UNREACHABLE, CONFIG_INVALID */
export async function queryService<Answer>(query: ServiceQuery<Answer>): Promise<{ answer: Answer; body: unknown }> {
  const { schema, token, ...request } = query;
  const body = await fetchServiceJson({ ...request, token, deadlineMs: DEADLINE_MS, maxBytes: MAX_BYTES });
  return { answer: parseAnswer(schema, body, query), body };
}

/** @throws OracleError CONFIG_INVALID when the body does not match the schema */
export function parseAnswer<Answer>(schema: z.ZodType<Answer>, body: unknown, { url, path }: { url: string; path: string }): Answer {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = `${path.split('?')[0]}: ${issue.path.join('.')}: ${issue.message.slice(0, 200)}`;
  throw new OracleError('CONFIG_INVALID', `The server at ${url} is not this service, or runs another version: ${where}`, {
    field: 'url',
    suggestedAction: 'Set the URL of the service with --url or SERVICE_URL.',
  });
}
