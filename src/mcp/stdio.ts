import { type Readable, Transform, type TransformCallback, type Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type McpServer, ProtocolErrorCode, parseJSONRPCMessage } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { ENDPOINTS } from '../../agent-card/endpoints.ts';
import { findSkill, getPublicPart, getTerms, type SkillAnswer } from '../../skills/runner.ts';
import { PUBLIC_CALLER } from '../auth/caller.ts';
import { requireTier } from '../auth/tiers.ts';
import { formatSingleAnswerHint } from '../commerce/offerings.ts';
import { type ClientError, isOracleError, OracleError, toClientError } from '../errors.ts';
import {
  isTokenRejected,
  parseServiceError,
  type ServiceRequest,
  type ServiceResponse,
  sendServiceRequest,
} from '../platform/service-client.ts';
import { getTraceHeaders } from '../platform/tracing.ts';
import { parseInput } from '../platform/validation.ts';
import { getRpcId, type McpBackend } from './protocol.ts';

interface StdioOptions {
  input: Readable;
  /** Carries protocol messages only. */
  output: Writable;
  /** Logs errors of the transport, which the client does not receive. */
  onError(error: unknown): void;
}

export function serveOverStdio(build: () => McpServer, { input, output, onError }: StdioOptions) {
  const lines = createLineFilter((rejection) => output.write(`${JSON.stringify(rejection)}\n`));
  const handle = serveStdio(build, { transport: new StdioServerTransport(lines, output), onerror: onError });
  const brokenPipe = new Promise<void>((resolve) => output.on('error', () => resolve()));
  /** Resolves when the client has closed its end of either pipe. */
  const disconnected = Promise.race([finished(input, { writable: false }), brokenPipe]).then(
    () => {},
    () => {},
  );
  input.pipe(lines);
  return { disconnected, close: () => handle.close() };
}

/** The body limit of MCP over HTTP. */
const MAX_LINE_BYTES = 64 * 1024;

const NEWLINE = 0x0a;

export interface LineRejection {
  jsonrpc: '2.0';
  id: string | number | null;
  error: { code: number; message: string; data: ClientError };
}

/** JSON-RPC 2.0, section 5, requires an answer to an invalid line; the transport of the SDK drops it silently. Empty lines are skipped. */
export function createLineFilter(onRejected: (rejection: LineRejection) => void): Transform {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  const keep = (part: Buffer) => {
    keptBytes += part.length;
    // A line above the limit is read to its end without being buffered.
    if (keptBytes <= MAX_LINE_BYTES) kept.push(part);
  };
  const endLine = (into: Transform) => {
    const line = Buffer.concat(kept);
    const text = line.toString('utf8').trim();
    const rejection = keptBytes > MAX_LINE_BYTES ? lineTooLong() : findLineRejection(text);
    if (rejection !== null) onRejected(rejection);
    else if (text !== '') into.push(Buffer.concat([line, Buffer.of(NEWLINE)]));
    kept = [];
    keptBytes = 0;
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
        keep(chunk.subarray(from, end));
        endLine(this);
        from = end + 1;
      }
      if (from < chunk.length) keep(chunk.subarray(from));
      done();
    },
  });
}

/** Null for a message, and for an empty line. */
function findLineRejection(line: string): LineRejection | null {
  if (line === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return rejectLine(ProtocolErrorCode.ParseError, invalidLine('The line is not JSON'));
  }
  try {
    parseJSONRPCMessage(value);
    return null;
  } catch {
    return rejectLine(ProtocolErrorCode.InvalidRequest, invalidLine('The line is not a JSON-RPC message'), value);
  }
}

function invalidLine(message: string): OracleError {
  const suggestedAction = 'Send one JSON-RPC 2.0 message per line, in UTF-8, such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}.';
  return new OracleError('INPUT_INVALID', message, { field: 'line', suggestedAction });
}

function lineTooLong(): LineRejection {
  const error = new OracleError('PAYLOAD_TOO_LARGE', `A message is larger than ${MAX_LINE_BYTES} bytes`, {
    field: 'line',
    suggestedAction: 'Send less: no tool needs as much.',
  });
  return rejectLine(ProtocolErrorCode.InvalidRequest, error);
}

function rejectLine(code: number, error: OracleError, value?: unknown): LineRejection {
  const data = toClientError(error);
  return { jsonrpc: '2.0', id: getRpcId(value), error: { code, message: `${data.message}. ${data.suggestedAction}`, data } };
}

/** Above the time limit of a skill that reads the chain. */
const REQUEST_TIMEOUT_MS = 30_000;

export interface RemoteBackendOptions {
  url: string;
  /** Awaited before each request. @throws OracleError SERVICE_UNREACHABLE, STEP_WAITING */
  ready?(): Promise<void>;
  token?(): Promise<string | undefined>;
  /** Drops a rejected token. True if the next one may differ. */
  forgetToken?(): boolean;
  deadlineMs?: number;
}

type ServiceCall = Pick<ServiceRequest, 'path' | 'body'>;

export function createRemoteBackend(options: RemoteBackendOptions): McpBackend {
  return {
    async run(skillId, input) {
      const skill = findSkill(skillId);
      const { id, input: known, output } = skill;
      const { tier, offering } = getTerms(skill, input);
      const part = getPublicPart({ skill, input });
      const ask = (as: RemoteBackendOptions) => requestWithRetry(as, { path: `${ENDPOINTS.skills}/${id}`, body: input });
      const answer = await ask(options).catch(async (error: unknown) => {
        // What is public needs no token, so a rejected one is no obstacle.
        if (part !== null && isOracleError(error, 'UNAUTHENTICATED')) return ask({ ...options, token: async () => undefined });
        const isInvalid = isOracleError(error, 'INPUT_INVALID');
        // This transport has no payments: where the service offers a sale, or rejects its input, a token is what is missing.
        const isSale = isOracleError(error, 'PAYMENT_REQUIRED') || (isInvalid && (await options.token?.()) === undefined);
        if (isSale && tier !== 'public') requireTier(PUBLIC_CALLER, tier, formatSingleAnswerHint(offering));
        // Local validation names the argument instead of the member of a request body.
        if (isInvalid) parseInput(known, input, { kind: 'input', root: 'input' });
        throw error;
      });
      return parseServiceAnswer(z.object({ output: part?.output ?? output, text: z.string() }), answer, options.url) as SkillAnswer;
    },
  };
}

/** Retries once with another token. Without one, the service has answered public operations as for an anonymous client. */
async function requestWithRetry(options: RemoteBackendOptions, call: ServiceCall): Promise<unknown> {
  const first = await requestOnce(options, call);
  const isRejected = first.status === 401 || isTokenRejected(first);
  const answer = isRejected && options.forgetToken?.() === true ? await requestOnce(options, call) : first;
  if (answer.status < 300 && answer.body !== undefined) return answer.body;
  throw parseServiceError(answer, options.url);
}

async function requestOnce(options: RemoteBackendOptions, call: ServiceCall): Promise<ServiceResponse> {
  const { url, ready, token, deadlineMs = REQUEST_TIMEOUT_MS } = options;
  await ready?.();
  return sendServiceRequest({ ...call, url, token: await token?.(), headers: { ...getTraceHeaders() }, deadlineMs });
}

/** Strips fields that the schema does not declare, and keeps the order of the service. */
function parseServiceAnswer<T extends z.ZodType>(schema: T, answer: unknown, url: string): z.output<T> {
  const { success, data, error } = schema.safeParse(answer);
  if (success) return restoreFieldOrder(data, answer) as z.output<T>;
  const suggestedAction = 'Use the version of this program that belongs to the service.';
  throw new OracleError('INTERNAL', `The service at ${url} answers in a form that is not known here`, { suggestedAction, cause: error });
}

/** zod returns fields in the order of the schema; answers must equal those over HTTP. */
function restoreFieldOrder(value: unknown, sent: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item, index) => restoreFieldOrder(item, (sent as unknown[])[index]));
  const known = value as Record<string, unknown>;
  const all = sent as Record<string, unknown>;
  const names = new Set([...Object.keys(all).filter((name) => Object.hasOwn(known, name)), ...Object.keys(known)]);
  return Object.fromEntries([...names].map((name) => [name, restoreFieldOrder(known[name], all[name])]));
}
