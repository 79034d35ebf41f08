import type { z } from 'zod';
import { askService } from '../ask-service.ts';
import { Misuse } from '../audit/misuse.ts';
import { OracleError } from '../errors.ts';
import type { Host } from './host.ts';
import { storedSession } from './secrets/sessions.ts';
import { urlIn } from './words.ts';

const DEADLINE_MS = 30_000;
const MOST_BYTES = 16 * 2 ** 20;
const DEFAULT_URL = 'http://127.0.0.1:3000';
const TOKEN = /^[\w.~+/=-]{1,4096}$/;

/** The service that is asked. @throws Misuse naming `--url` or `SERVICE_URL` */
export function serviceUrl(host: Host, url: string | undefined): string {
  if (url !== undefined) return urlIn('--url', url);
  const { SERVICE_URL: named = '' } = host.environment;
  return named === '' ? (host.localUrl?.() ?? DEFAULT_URL) : urlIn('SERVICE_URL', named);
}

/** Whether a call or the environment names the service; otherwise it is that of this folder. */
export function isServiceNamed({ environment }: Host, url: string | undefined): boolean {
  return url !== undefined || (environment.SERVICE_URL ?? '') !== '';
}

/** The token to ask with: that of the call, of the environment, or of the login; undefined: as anybody. @throws Misuse */
export async function tokenFor(host: Host, url: string, token: string | undefined): Promise<string | undefined> {
  const { ORACLE_TOKEN: set = '' } = host.environment;
  const named = token ?? (set === '' ? undefined : set);
  if (named === undefined) return (await storedSession(host, url))?.token;
  if (TOKEN.test(named)) return named;
  throw new Misuse(token === undefined ? 'ORACLE_TOKEN' : '--token', 'must be an access token, without spaces and without "Bearer"');
}

export interface Question<Answer> {
  url: string;
  /** Begins with a slash. */
  path: string;
  token?: string;
  method?: 'GET' | 'DELETE';
  /** What is read of the answer. */
  as: z.ZodType<Answer>;
}

/** What the service says, read as it should be, and as it came. @throws OracleError in its own words; SERVICE_UNREACHABLE */
export async function ask<Answer>(question: Question<Answer>): Promise<{ answer: Answer; body: unknown }> {
  const { url, path, token, method, as } = question;
  const body = await askService({ url, path, token, method, deadlineMs: DEADLINE_MS, mostBytes: MOST_BYTES });
  return { answer: readAs(as, body, { url, path }), body };
}

/** @throws OracleError CONFIG_INVALID where it is none of this service's answers */
export function readAs<Answer>(as: z.ZodType<Answer>, body: unknown, { url, path }: { url: string; path: string }): Answer {
  const parsed = as.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = `${path.split('?')[0]}: ${issue.path.join('.')}: ${issue.message.slice(0, 200)}`;
  throw new OracleError('CONFIG_INVALID', `What answers at ${url} is not this service, or another version of it: ${where}`, {
    field: 'url',
    suggestedAction: 'Name the address of the service with --url or SERVICE_URL.',
  });
}
