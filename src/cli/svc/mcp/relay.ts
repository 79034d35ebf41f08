import { addAbortSignal, type Readable } from 'node:stream';
import { OracleError } from '../../../platform/errors.ts';
import { readLines } from './lines.ts';
import type { McpEndpoint } from './mcp-endpoint.ts';
import { getRequestId, parseRpcLine, type RpcBody, type RpcMessage, toErrorReply } from './rpc-message.ts';

/** Added to the instructions of the service, which speak of a request header. */
const HOW_TO_SEND_TOKEN =
  'Calls come through a local program, which sends the access token: its user sets ORACLE_TOKEN (an API key or an access token) or PRIVATE_KEY in the environment that this program is started with.';

export interface McpRelayOptions {
  /** The messages of the client, one a line. */
  input: Readable;
  output: { write(text: string): unknown };
  endpoint: McpEndpoint;
  /** Ends the relay and what is in flight. */
  signal: AbortSignal;
  onNotice(text: string): void;
}

/** Carries messages between a client on standard input and output, and a service over HTTP. Resolves when the client is gone. */
export async function relayMcp({ input, signal, ...options }: McpRelayOptions): Promise<void> {
  const relay = new McpRelay(options, signal);
  try {
    for await (const line of readLines(addAbortSignal(signal, input))) relay.take(line);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  await relay.drain();
}

class McpRelay {
  readonly #options: Omit<McpRelayOptions, 'input' | 'signal'>;
  readonly #signal: AbortSignal;
  readonly #open = new Map<string | number, { method: string | undefined; controller: AbortController }>();
  readonly #running = new Set<Promise<void>>();

  constructor(options: Omit<McpRelayOptions, 'input' | 'signal'>, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
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
    const work = this.#exchange(body, id, AbortSignal.any([this.#signal, controller.signal])).finally(() => {
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
