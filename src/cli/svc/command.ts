import type { z } from 'zod';
import { getErrorMessage, OracleError, UsageError } from '../../errors.ts';
import { HORIZON_NAMES, HORIZON_RULE, recordHorizonInput } from '../../forecast/horizon-input.ts';
import type { HorizonName } from '../../forecast/model.ts';
import { readSecretFile } from '../../platform/secrets.ts';
import { fetchServiceJson } from '../../platform/service-client.ts';
import { toPlainLine } from '../../verify/findings.ts';
import type { OptionSyntax } from './command-line.ts';
import { type CliContext, readSession, type TerminalOutput } from './context.ts';
import { createTerminalWriter, sanitizeLine, type TerminalWriter } from './text.ts';

/** JSON is printed on request and whenever the output is not a terminal. */
export function wantsJson({ out }: CliContext, json: boolean | undefined): boolean {
  return json === true || out.isTTY !== true;
}

export function printResult(
  context: CliContext,
  json: boolean | undefined,
  value: unknown,
  lines: (writer: TerminalWriter) => readonly string[],
): void {
  if (wantsJson(context, json)) printJson(context, value);
  else writeLines(context, context.out, lines);
}

export function printJson({ out }: CliContext, value: unknown): void {
  out.write(`${formatJson(out, value, 2)}\n`);
}

/** Escapes control characters for a terminal, which leaves the JSON value unchanged. */
export function formatJson({ isTTY }: Pick<TerminalOutput, 'isTTY'>, value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return isTTY === true ? text.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escapeCharacter) : text;
}

function escapeCharacter(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

export function printNotice(context: NoticeContext, text: string): void {
  printNoticeLines(context, () => [toSingleLine(text)]);
}

const MAX_LINE_CHARS = 1_000;

function toSingleLine(text: string): string {
  return toPlainLine(text).slice(0, MAX_LINE_CHARS);
}

type NoticeContext = Pick<CliContext, 'err' | 'environment' | 'json'>;

/** With `--json` a JSON document in one line, like errors. */
export function printNoticeLines(context: NoticeContext, lines: (writer: TerminalWriter) => readonly string[]): void {
  if (context.json === true) {
    const text = lines({ width: Number.POSITIVE_INFINITY, paint: (_, part) => part });
    context.err.write(`${formatJson(context.err, { notice: text.map((line) => line.trim()).join('\n') })}\n`);
  } else writeLines(context, context.err, lines);
}

function writeLines(
  context: Pick<CliContext, 'environment'>,
  output: TerminalOutput,
  lines: (writer: TerminalWriter) => readonly string[],
): void {
  output.write(`${lines(createTerminalWriter(output, context)).map(sanitizeLine).join('\n')}\n`);
}

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

export const URL_OPTION: OptionSyntax = [
  '--url <url>',
  'the service; or SERVICE_URL (default: the service of this machine)',
  parseUrlOption,
];
export const JSON_OPTION: OptionSyntax = ['--json', 'print JSON; the default when the output is not a terminal'];
export const TOKEN_OPTION: OptionSyntax = [
  '--token <token>',
  'access token or API key; prefer ORACLE_TOKEN, as other users can read command lines (default: the token of svc login)',
];
export const HORIZON_OPTION: OptionSyntax = [
  '--horizon <days>',
  'days of the outcome window (default: 7d)',
  parseHorizonOption,
  HORIZON_NAMES,
];

/** Of commands that show all horizons. */
export const HORIZON_VIEW_OPTION: OptionSyntax = [
  '--horizon <days>',
  'one horizon in detail (default: all, in a table)',
  parseHorizonOption,
  HORIZON_NAMES,
];

export interface ServiceValues {
  url?: string;
  json?: boolean;
}

function parseHorizonOption(name: string, value: string): HorizonName {
  const named = recordHorizonInput.safeParse(value);
  if (named.success) return named.data;
  throw new UsageError(name, HORIZON_RULE);
}

export function parseChoice<const T extends string>(name: string, value: string | undefined, choices: readonly T[]): T | undefined {
  if (value === undefined || choices.some((choice) => choice === value)) return value as T | undefined;
  throw new UsageError(name, `must be one of ${choices.join(', ')}`);
}

/** An http(s) URL that carries no secret, without trailing slashes. @throws UsageError */
export function parseUrlOption(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw new UsageError(name, 'must be an http(s) URL');
  if (url.username + url.password + url.search + url.hash !== '') {
    throw new UsageError(name, 'must be a URL without user, password, query and fragment');
  }
  return text.replace(/\/+$/, '');
}
