import { addAbortSignal, type Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { isOracleError, OracleError, toClientError } from '../../../errors.ts';
import { createOperatorFetch } from '../../../platform/outbound/operator.ts';
import { isTokenRejected, joinUrl, parseServiceError, readFailure } from '../../../platform/service-client.ts';
import {
  JSON_OPTION,
  parseUrlOption,
  printNotice,
  resolveServiceUrl,
  resolveToken,
  type ServiceValues,
  TOKEN_OPTION,
  URL_OPTION,
} from '../command.ts';
import { type CliContext, EXIT, type SvcCommand } from '../context.ts';
import { hasKeyOption, KEY_OPTIONS, type KeyOptions, openLogin } from '../secrets.ts';

/** Added to the instructions of the service, which speak of a request header. */
const HOW_TO_SEND_TOKEN =
  'Calls come through a local program, which sends the access token: its user sets ORACLE_TOKEN (an API key or an access token) or PRIVATE_KEY in the environment that this program is started with.';

interface McpRelayOptions {
  /** The messages of the client, one a line. */
  input: Readable;
  output: { write(text: string): unknown };
  endpoint: McpEndpoint;
  /** Ends the relay and what is in flight. */
  signal: AbortSignal;
  onNotice(text: string): void;
}

/** Carries messages between a client on standard input and output, and a service over HTTP. Resolves when the client is gone. */
export async function relayMcp(options: McpRelayOptions): Promise<void> {
  const { input, signal } = options;
  const relay = new McpRelay(options);
  try {
    for await (const line of readLines(addAbortSignal(signal, input))) relay.take(line);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  await relay.drain();
}

class McpRelay {
  readonly #options: McpRelayOptions;
  readonly #open = new Map<string | number, { method: string | undefined; controller: AbortController }>();
  readonly #running = new Set<Promise<void>>();

  constructor(options: McpRelayOptions) {
    this.#options = options;
  }

  take(line: string): void {
    try {
      const body = parseRpcLine(line);
      if (!this.#cancel(body)) this.#start(body);
    } catch (error) {
      this.#write(toErrorReply(null, error));
    }
  }

  /** Answers that are still due are written; streams without an end are closed. */
  async drain(): Promise<void> {
    for (const { method, controller } of this.#open.values()) if (method === 'subscriptions/listen') controller.abort();
    await Promise.all(this.#running);
  }

  /** Over HTTP the closed request cancels it. */
  #cancel(body: RpcBody): boolean {
    if (Array.isArray(body) || body.method !== 'notifications/cancelled') return false;
    this.#open.get(body.params?.requestId as string | number)?.controller.abort();
    return true;
  }

  #start(body: RpcBody): void {
    const id = getRequestId(body);
    const controller = new AbortController();
    const method = Array.isArray(body) ? undefined : body.method;
    if (id !== undefined) this.#open.set(id, { method, controller });
    const work = this.#exchange(body, id, AbortSignal.any([this.#options.signal, controller.signal])).finally(() => {
      this.#running.delete(work);
      if (id !== undefined && this.#open.get(id)?.controller === controller) this.#open.delete(id);
    });
    this.#running.add(work);
  }

  async #exchange(body: RpcBody, id: string | number | undefined, signal: AbortSignal): Promise<void> {
    let isAnswered = false;
    try {
      for await (const answer of this.#options.endpoint.send(body, signal)) {
        const own = Array.isArray(answer) ? answer : adaptAnswer(answer, id);
        isAnswered ||= Array.isArray(own) || (own.id === id && own.method === undefined);
        this.#write(own);
      }
      if (id !== undefined && !isAnswered) throw new OracleError('SERVICE_UNREACHABLE', 'The service ended its answer before its result');
    } catch (error) {
      if (signal.aborted) return;
      if (id !== undefined) this.#write(toErrorReply(id, error));
      else this.#options.onNotice(toErrorReply(null, error).error?.message as string);
    }
  }

  #write(answer: RpcBody): void {
    this.#options.output.write(`${JSON.stringify(answer)}\n`);
  }
}

/** The service repeats no id that is longer than its limit, and knows nothing of this program. */
function adaptAnswer(answer: RpcMessage, id: string | number | undefined): RpcMessage {
  const own = answer.id === null && id !== undefined ? { ...answer, id } : answer;
  const instructions = own.result?.instructions;
  if (typeof instructions !== 'string') return own;
  return { ...own, result: { ...own.result, instructions: `${instructions}\n${HOW_TO_SEND_TOKEN}` } };
}

/** Lines of UTF-8 text, empty ones left out. Only LF ends a line: `readline` also splits at U+2028, which JSON strings may contain. */
async function* readLines(input: Readable): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of input.setEncoding('utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line.trim() !== '');
  }
  if (rest.trim() !== '') yield rest;
}

const PATH = '/mcp';
/** The time after which MCP clients give a call up by default. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Streams of `subscriptions/listen` end with the client. The longest time that a timer can wait. */
const STREAM_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_BYTES = 16 * 2 ** 20;
/** An assistant that starts with its machine may be there before the service. */
const HANDSHAKE_WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000];

export interface McpEndpointOptions {
  /** Base URL of the service. */
  url: string;
  /** Awaited before each request; undefined: anonymous. @throws OracleError of a login */
  getToken(): Promise<string | undefined>;
  /** Drops a token that the service has rejected. True if the next one may differ. */
  forgetToken(): Promise<boolean>;
  onNotice(text: string): void;
  handshakeWaitsMs?: readonly number[];
}

type McpEndpoint = ReturnType<typeof createMcpEndpoint>;

/** The MCP endpoint of a service over Streamable HTTP, which it serves without sessions. */
export function createMcpEndpoint(options: McpEndpointOptions) {
  let negotiated: string | undefined;
  return {
    /** Answers in their order. @throws OracleError SERVICE_UNREACHABLE, CONFIG_INVALID, those of a login and of the service */
    async *send(body: RpcBody, signal: AbortSignal): AsyncGenerator<RpcBody> {
      const post = () => postWithRetry(options, { body, signal, headers: buildRequestHeaders(body, negotiated) });
      const isHandshake = isMethod(body, 'initialize') || isMethod(body, 'server/discover');
      const response = isHandshake ? await postPatiently(post, options, signal) : await post();
      for await (const answer of readAnswers(response, options.url)) {
        const revision = Array.isArray(answer) || !isMethod(body, 'initialize') ? undefined : answer.result?.protocolVersion;
        if (typeof revision === 'string') negotiated = revision;
        yield answer;
      }
    },
  };
}

const isMethod = (body: RpcBody, method: string) => !Array.isArray(body) && body.method === method;

/** Repeats what did not reach the service. */
async function postPatiently(
  post: () => Promise<Response>,
  { handshakeWaitsMs = HANDSHAKE_WAITS_MS, onNotice }: McpEndpointOptions,
  signal: AbortSignal,
): Promise<Response> {
  for (const waitMs of handshakeWaitsMs) {
    try {
      return await post();
    } catch (error) {
      if (!isOracleError(error, 'SERVICE_UNREACHABLE')) throw error;
      onNotice(`${error.message}; again in ${waitMs / 1_000} s`);
      await delay(waitMs, undefined, { signal });
    }
  }
  return post();
}

interface Post {
  body: RpcBody;
  headers: Record<string, string>;
  signal: AbortSignal;
}

/** Retries once with another token: the service has answered as to an anonymous client, and no method changes anything. */
async function postWithRetry(options: McpEndpointOptions, request: Post): Promise<Response> {
  const first = await post(options, request);
  if (!(first.status === 401 || isTokenRejected(first)) || !(await options.forgetToken())) return first;
  await first.body?.cancel();
  return post(options, request);
}

async function post({ url, getToken }: McpEndpointOptions, { body, headers, signal }: Post): Promise<Response> {
  const token = await getToken();
  const timeoutMs = isMethod(body, 'subscriptions/listen') ? STREAM_TIMEOUT_MS : REQUEST_TIMEOUT_MS;
  const fetchService = createOperatorFetch({ base: url, timeoutMs, maxBytes: MAX_BYTES });
  const sent = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...headers,
  };
  try {
    return await fetchService(joinUrl(url, PATH), { method: 'POST', headers: sent, body: JSON.stringify(body), signal });
  } catch (error) {
    signal.throwIfAborted();
    throw readFailure(error, { url, deadlineMs: timeoutMs });
  }
}

async function* readAnswers(response: Response, url: string): AsyncGenerator<RpcBody> {
  const { status, headers, body } = response;
  try {
    if (body !== null && /^text\/event-stream\b/i.test(headers.get('Content-Type') ?? '')) {
      for await (const data of readEventData(body)) yield JSON.parse(data);
      return;
    }
    const text = await response.text();
    if (text === '' && status < 300) return;
    const answer = parseJson(text);
    if (!isRpcBody(answer)) throw parseServiceError({ status, headers, body: answer }, url);
    yield answer;
  } catch (error) {
    throw isOracleError(error) ? error : readFailure(error, { url, deadlineMs: REQUEST_TIMEOUT_MS });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The data of each event of a Server-Sent Events body; comments and other fields are skipped (HTML standard, section 9.2). */
async function* readEventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    const events = `${rest}${decoder.decode(bytes, { stream: true })}`.replaceAll('\r\n', '\n').split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const data = event.split('\n').flatMap((line) => (line.startsWith('data:') ? line.slice(5).replace(/^ /, '') : []));
      if (data.length > 0) yield data.join('\n');
    }
  }
}

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/** Parameters that `Mcp-Name` repeats, by method (MCP 2026-07-28, "Streamable HTTP", standard request headers). */
const NAME_PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** Headers that Streamable HTTP requires of a message. @param negotiated The revision of the last `initialize`, if there was one. */
function buildRequestHeaders(body: RpcBody, negotiated: string | undefined): Record<string, string> {
  const own = Array.isArray(body) ? undefined : readOwnRevision(body);
  if (own === undefined || Array.isArray(body)) return negotiated === undefined ? {} : { 'MCP-Protocol-Version': negotiated };
  const name = body.params?.[NAME_PARAMETERS.get(body.method ?? '') ?? ''];
  return {
    'MCP-Protocol-Version': own,
    ...(body.method === undefined ? {} : { 'Mcp-Method': encodeHeaderValue(body.method) }),
    ...(typeof name === 'string' ? { 'Mcp-Name': encodeHeaderValue(name) } : {}),
  };
}

/** Revisions from 2026-07-28 on name themselves in each message. */
function readOwnRevision({ params }: RpcMessage): string | undefined {
  const revision = (params?._meta as Record<string, unknown> | undefined)?.[VERSION_KEY];
  return typeof revision === 'string' && /^[\x21-\x7e]+$/.test(revision) ? revision : undefined;
}

/** Text outside printable ASCII, or that reads like this encoding, is sent in Base64 between markers. */
export function encodeHeaderValue(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}

/** A JSON-RPC 2.0 message, of which the relay reads only what it routes by. */
interface RpcMessage {
  jsonrpc: '2.0';
  id?: string | number | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: Record<string, unknown>;
}

/** A message, or several of them, as revisions up to 2025-03-26 allow. */
type RpcBody = RpcMessage | RpcMessage[];

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
/** From the range that JSON-RPC 2.0 leaves to implementations. */
const SERVER_ERROR = -32_000;

function isRpcBody(value: unknown): value is RpcBody {
  return Array.isArray(value) ? value.length > 0 && value.every(isRpcMessage) : isRpcMessage(value);
}

function isRpcMessage(value: unknown): value is RpcMessage {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
}

/** @throws OracleError INPUT_INVALID with the JSON-RPC code as its detail `rpcCode` */
function parseRpcLine(line: string): RpcBody {
  // No JSON text has this value.
  const value = parseJson(line);
  if (value === undefined) throw invalidLine('The line is not JSON', PARSE_ERROR);
  if (!isRpcBody(value)) throw invalidLine('The line is not a JSON-RPC message', INVALID_REQUEST);
  return value;
}

function invalidLine(message: string, rpcCode: number): OracleError {
  const suggestedAction = 'Send one JSON-RPC 2.0 message per line, in UTF-8, such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}.';
  return new OracleError('INPUT_INVALID', message, { field: 'line', suggestedAction, details: { rpcCode } });
}

/** The id under which a request waits for its answer; undefined for notifications, answers and batches. */
function getRequestId(body: RpcBody): string | number | undefined {
  if (Array.isArray(body) || body.method === undefined) return undefined;
  return body.id ?? undefined;
}

/** Error as the service serializes it over HTTP. Causes are not exposed. */
function toErrorReply(id: string | number | null, error: unknown): RpcMessage {
  const data = toClientError(error);
  const code = data.details?.rpcCode ?? SERVER_ERROR;
  return { jsonrpc: '2.0', id, error: { code, message: `${data.message}. ${data.suggestedAction}`, data } };
}

type McpValues = Pick<ServiceValues, 'url'> & KeyOptions & { token?: string };

export const mcpCommand: SvcCommand<McpValues> = {
  example: 'svc mcp --wallet premium',
  description: `Tools, resources and prompts are those of the service, which has to run. Without a token the direction of open forecasts is hidden.
With a wallet it logs in when it is called, and renews its token.`,
  options: [
    [URL_OPTION[0], 'the service; or ORACLE_URL or SERVICE_URL (default: the service of this machine)', URL_OPTION[2]],
    TOKEN_OPTION,
    ...KEY_OPTIONS,
    [JSON_OPTION[0], 'print notices and errors as JSON'],
  ],
  footer: 'Notices are written to standard error. It ends when its standard input does.',
  async run(context, { token, ...options }) {
    const { input } = context;
    if (input === undefined) throw new OracleError('INTERNAL', 'The process has no standard input');
    const url = await resolveMcpService(context, options.url);
    const signal = context.createInterruptSignal();
    const onNotice = (text: string) => printNotice(context, text);
    const endpoint = createMcpEndpoint({ url, onNotice, ...(await chooseTokens(context, { ...options, token, url, signal })) });
    await relayMcp({ input, output: context.out, endpoint, signal, onNotice });
    return EXIT.ok;
  },
};

/** Assistants are given the address of the endpoint, which users repeat here. */
async function resolveMcpService(context: CliContext, url: string | undefined): Promise<string> {
  const { ORACLE_URL: configured = '' } = context.environment;
  const named = url ?? (configured === '' ? undefined : parseUrlOption('ORACLE_URL', configured));
  return (await resolveServiceUrl(context, named)).replace(/\/mcp$/, '');
}

type TokenOptions = KeyOptions & { url: string; signal: AbortSignal; token: string | undefined };

async function chooseTokens(
  context: CliContext,
  { token, ...options }: TokenOptions,
): Promise<Pick<McpEndpointOptions, 'getToken' | 'forgetToken'>> {
  if (token === undefined && hasKeyOption(options, context)) {
    const login = await openLogin(context, options);
    let used = '';
    const getToken = async () => {
      used = await login.token();
      return used;
    };
    return { getToken, forgetToken: () => login.forget(used) };
  }
  const getToken = () => resolveToken(context, options.url, token);
  // A malformed token stops the start.
  await getToken();
  return { getToken, forgetToken: async () => false };
}
