import { addAbortSignal, type Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import * as mcp from '@modelcontextprotocol/client';
import { isOracleError, OracleError, toClientError } from '../../../errors.ts';
import { fetchService, isTokenRejected, joinUrl, parseServiceError, readJsonBody } from '../../../platform/service-client.ts';
import { JSON_OPTION, parseUrlOption, printNotice, resolveServiceUrl, resolveToken, TOKEN_OPTION, URL_OPTION } from '../command.ts';
import { EXIT, type SvcCommand } from '../context.ts';
import { createLoginTokenSource, hasKeyOption, KEY_OPTIONS, type KeyOptions } from '../secrets.ts';

/** Added to the instructions of the service, which speak of a request header. */
const HOW_TO_SEND_TOKEN =
  'Calls come through a local program, which sends the access token: its user sets ORACLE_TOKEN (an API key or an access token) or PRIVATE_KEY in the environment that this program is started with.';

export interface McpRelayOptions {
  /** The messages of the client, one a line. */
  input: Readable;
  output: { write(text: string): unknown };
  /** Base URL of the service. */
  url: string;
  /** Awaited before each request; undefined: anonymous. @throws OracleError of a login */
  getToken(): Promise<string | undefined>;
  /** Drops a token that the service has rejected. True if the next one may differ. */
  forgetToken(): boolean;
  /** Ends the relay and what is in flight. */
  signal: AbortSignal;
  onNotice(text: string): void;
  handshakeWaitsMs?: readonly number[];
}

/** Carries messages between a client on standard input and output, and a service over HTTP. Resolves when the client is gone. */
export async function relayMcp(options: McpRelayOptions): Promise<void> {
  const { input, signal } = options;
  const relay = new McpRelay(options);
  signal.addEventListener('abort', () => relay.cancel(() => true), { once: true });
  try {
    for await (const line of readLines(addAbortSignal(signal, input))) relay.take(line);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  await relay.end();
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

/** A message in flight. The service keeps no sessions: each has a transport of its own, which closing it cancels. */
interface Exchange {
  /** Undefined for a message that gets no answer. */
  id: mcp.RequestId | undefined;
  method: string | undefined;
  transport: mcp.StreamableHTTPClientTransport;
}

class McpRelay {
  readonly #options: McpRelayOptions;
  readonly #open = new Map<Exchange, Promise<void>>();
  /** Of the last `initialize`. */
  #protocolVersion: string | undefined;

  constructor(options: McpRelayOptions) {
    this.#options = options;
  }

  take(line: string): void {
    try {
      for (const message of parseLine(line)) this.#start(message);
    } catch (error) {
      this.#write(toErrorReply(null, error));
    }
  }

  cancel(matches: (exchange: Exchange) => boolean): void {
    for (const exchange of this.#open.keys()) if (matches(exchange)) void exchange.transport.close();
  }

  /** Answers that are still due are written; streams, which have no end, are closed. */
  async end(): Promise<void> {
    this.cancel(({ method }) => method === LISTEN);
    await Promise.all(this.#open.values());
  }

  #start(message: mcp.JSONRPCMessage): void {
    const { id, method, params }: Partial<mcp.JSONRPCRequest> = 'method' in message ? message : {};
    // Over HTTP the closed request cancels it.
    if (method === 'notifications/cancelled') {
      this.cancel((exchange) => exchange.id !== undefined && exchange.id === params?.requestId);
      return;
    }
    const fetch = createServiceFetch(this.#options, message);
    const options = { fetch, protocolVersion: this.#protocolVersion };
    const transport = new mcp.StreamableHTTPClientTransport(new URL(joinUrl(this.#options.url, PATH)), options);
    const exchange = { id, method, transport };
    const done = this.#run(exchange, message).finally(() => this.#open.delete(exchange));
    this.#open.set(exchange, done);
  }

  async #run({ id, method, transport }: Exchange, message: mcp.JSONRPCMessage): Promise<void> {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let isDue = id !== undefined;
    let isClosed = false;
    transport.onmessage = (answer) => {
      isDue &&= 'method' in answer;
      this.#write(this.#adapt(answer, method));
    };
    transport.onclose = () => {
      isClosed = true;
      end();
    };
    try {
      await transport.start();
      await transport.send(message, { onRequestStreamEnd: end });
      if (isDue) await ended;
      if (isDue) throw new OracleError('SERVICE_UNREACHABLE', 'The service ended its answer before its result');
    } catch (error) {
      const reply = toErrorReply(id ?? null, error);
      if (isClosed) return;
      if (id === undefined) this.#options.onNotice(reply.error.message);
      else this.#write(reply);
    }
  }

  #adapt(answer: mcp.JSONRPCMessage, method: string | undefined): mcp.JSONRPCMessage {
    if (!('result' in answer)) return answer;
    const { protocolVersion, instructions } = answer.result;
    if (method === 'initialize' && typeof protocolVersion === 'string') this.#protocolVersion = protocolVersion;
    if (typeof instructions !== 'string') return answer;
    return { ...answer, result: { ...answer.result, instructions: `${instructions}\n${HOW_TO_SEND_TOKEN}` } };
  }

  #write(message: object): void {
    this.#options.output.write(`${JSON.stringify(message)}\n`);
  }
}

const PATH = '/mcp';
/** The time after which MCP clients give a call up by default. */
const REQUEST_TIMEOUT_MS = 60_000;
const LISTEN = 'subscriptions/listen';
/** Its stream ends with the client. The longest time that a timer can wait. */
const LISTEN_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_BYTES = 16 * 2 ** 20;
/** An assistant that starts with its machine may be there before the service. */
const HANDSHAKE_WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000];

/** For one message: with a token, patient at the handshake. Responses are streams, or have the answer to it. @throws OracleError */
function createServiceFetch(options: McpRelayOptions, message: mcp.JSONRPCMessage): mcp.FetchLike {
  const { url, getToken, forgetToken, onNotice, handshakeWaitsMs = HANDSHAKE_WAITS_MS } = options;
  const { id, method }: Partial<mcp.JSONRPCRequest> = 'method' in message ? message : {};
  const deadlineMs = method === LISTEN ? LISTEN_TIMEOUT_MS : REQUEST_TIMEOUT_MS;
  const waitsMs = method === 'initialize' || method === 'server/discover' ? [...handshakeWaitsMs] : [];

  async function post(headers: Record<string, string>, stop: AbortSignal | undefined, isRetry = false): Promise<Response> {
    const request = { url, path: PATH, token: await getToken(), headers, body: { ...message }, deadlineMs, maxBytes: MAX_BYTES, stop };
    const response = await fetchService(request);
    // The service has answered as to an anonymous client, and no method changes anything: once more, with another token.
    if (!(response.status === 401 || isTokenRejected(response)) || isRetry || !forgetToken()) return response;
    await response.body?.cancel();
    return post(headers, stop, true);
  }

  async function postPatiently(headers: Record<string, string>, stop: AbortSignal | undefined): Promise<Response> {
    try {
      return await post(headers, stop);
    } catch (error) {
      const waitMs = waitsMs.shift();
      if (waitMs === undefined || !isOracleError(error, 'SERVICE_UNREACHABLE')) throw error;
      onNotice(`${error.message}; again in ${waitMs / 1_000} s`);
      await delay(waitMs, undefined, { signal: stop });
      return postPatiently(headers, stop);
    }
  }

  return async (_, init = {}) => {
    // The transport asks for a stream of messages besides answers, which the service does not have.
    if (init.method !== 'POST') return new Response(null, { status: 405 });
    const response = await postPatiently(Object.fromEntries(new Headers(init.headers)), init.signal ?? undefined);
    const { ok, status, headers } = response;
    if (ok && (id === undefined || headers.get('Content-Type')?.startsWith('text/event-stream'))) return response;
    const body = await readJsonBody(response, { url, deadlineMs });
    // The service does not repeat an id that is longer than its limit.
    const answer: unknown = { ...(body as object), id };
    if (!mcp.isJSONRPCResponse(answer)) throw parseServiceError({ status, headers, body }, url);
    if (id === undefined && 'error' in answer) onNotice(answer.error.message);
    return Response.json(answer);
  };
}

/** Several messages are a batch, as revisions up to 2025-03-26 allow. @throws OracleError with the JSON-RPC code as its detail `rpcCode` */
function parseLine(line: string): mcp.JSONRPCMessage[] {
  let rpcCode: number = mcp.ProtocolErrorCode.ParseError;
  try {
    const value: unknown = JSON.parse(line);
    rpcCode = mcp.ProtocolErrorCode.InvalidRequest;
    return (Array.isArray(value) && value.length > 0 ? value : [value]).map(mcp.parseJSONRPCMessage);
  } catch {
    const suggestedAction = 'Send one JSON-RPC 2.0 message per line, in UTF-8, such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}.';
    throw new OracleError('INPUT_INVALID', 'The line is not a JSON-RPC message', { field: 'line', suggestedAction, details: { rpcCode } });
  }
}

/** Error as the service serializes it over HTTP. Causes are not exposed. */
function toErrorReply(id: mcp.RequestId | null, error: unknown) {
  const data = toClientError(error);
  // Otherwise from the range that JSON-RPC 2.0 leaves to implementations.
  const code = data.details?.rpcCode ?? -32_000;
  return { jsonrpc: '2.0', id, error: { code, message: `${data.message}. ${data.suggestedAction}`, data } };
}

export const mcpCommand: SvcCommand<KeyOptions & { url?: string; token?: string }> = {
  description: `Tools, resources and prompts are those of the service, which has to run. Without a token the direction of open forecasts is hidden.
With a wallet it logs in when it is called, and renews its token.`,
  options: [
    [URL_OPTION[0], 'the service; or ORACLE_URL or SERVICE_URL (default: the service of this machine)', URL_OPTION[2]],
    TOKEN_OPTION,
    ...KEY_OPTIONS,
    [JSON_OPTION[0], 'print notices and errors as JSON'],
  ],
  footer: 'Notices are written to standard error. It ends when its standard input does.',
  async run(context, { url: named, token, ...key }) {
    const { input } = context;
    if (input === undefined) throw new OracleError('INTERNAL', 'The process has no standard input');
    const { ORACLE_URL: configured = '' } = context.environment;
    const address = await resolveServiceUrl(context, named ?? (configured === '' ? undefined : parseUrlOption('ORACLE_URL', configured)));
    // Assistants are given the address of the endpoint, which users repeat here.
    const url = address.replace(/\/mcp$/, '');
    const signal = context.createInterruptSignal();
    const fixed = { getToken: () => resolveToken(context, url, token), forgetToken: () => false };
    const isLogin = token === undefined && hasKeyOption(key, context);
    // A malformed token stops the start.
    if (!isLogin) await fixed.getToken();
    const tokens = isLogin ? await createLoginTokenSource(context, { ...key, url, signal }) : fixed;
    await relayMcp({ input, output: context.out, url, signal, onNotice: (text) => printNotice(context, text), ...tokens });
    return EXIT.ok;
  },
};
