import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import type * as mcp from '@modelcontextprotocol/server';
import type { SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import type { SkillAnswer, SoldAnswer } from '../../skills/runner.ts';
import { APP_VIEWS, type AppView } from '../page/mcp-app.ts';

/** Members of `_meta` that this service reads and writes. */
export const META_KEYS = {
  /** In a tool: tier, price of a single answer, and the seconds for which an answer is fresh. */
  terms: 'bitcoin-signal-oracle/terms',
  /** In a result with `isError`: the client error, as in REST. */
  error: 'bitcoin-signal-oracle/error',
  ref: 'bitcoin-signal-oracle/ref',
  /** In a paid result: the settlement and the signed receipt. */
  receipt: 'bitcoin-signal-oracle/receipt',
  /** In a call, by the x402 transport for MCP: the payment payload. */
  payment: 'x402/payment',
  /** In a result, by the same transport: the settlement response. */
  paymentResponse: 'x402/payment-response',
  /** In a request, by the protocol (2026-07-28): W3C Trace Context. */
  traceparent: 'traceparent',
} as const;

/** Payment members of a tool call, unvalidated. */
export interface CallPayment {
  payment: unknown;
  /** Referral code. */
  ref: unknown;
  /** Whether the client takes payment requirements where its tier excludes the skill. */
  wantsQuote: boolean;
}

/** Data source of an MCP server: this process, or a running service over HTTP. */
export interface McpBackend {
  /** A payment is read only if the tier excludes the skill and it is sold. @throws OracleError, PayableError, PaymentRequiredError */
  run(skillId: string, input: Record<string, unknown>, payment?: CallPayment): Promise<SkillAnswer | SoldAnswer>;
}

/** The client of a server: the caller of an HTTP request, or the process at the other end of a pipe. */
export interface McpSession {
  backend: McpBackend;
  /** Runs the handler of a message once it is admitted, unless its client has gone. @throws OracleError OVERLOADED, RATE_LIMITED */
  admit?<T>(message: { params?: unknown }, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
  /** Called when a message has been handled, or rejected. */
  observeMessage?: ((message: HandledMessage) => void) | undefined;
  /** Logs internal errors; the client receives none of their text. */
  onError?(error: unknown): void;
}

/** Of the message that is being handled: what a server offers is built once, for all of them. */
export const sessions = new AsyncLocalStorage<McpSession>();

export interface HandledMessage {
  method: string;
  /** As named by a `tools/call`. */
  tool?: string;
  isError: boolean;
}

/** What conformance suites call by name. */
export interface McpFixtures {
  /** Server options: verify that request state was minted here. */
  options: Pick<mcp.ServerOptions, 'requestState'>;
  register(server: mcp.McpServer): void;
}

export interface McpServerOptions {
  version: string;
  /** Base URL under which clients reach the service. */
  publicUrl: string;
  /** Address at which assistants authorize by OAuth; unset: there is none. */
  accountUrl?: string;
  /** Instruction on where an access token goes. Default: as a request header. */
  howToSendToken?: string;
  /** Where single answers are paid for with x402. */
  payments: McpPayments;
  /** Documents in which hosts with MCP Apps show answers; unset: none is declared. */
  apps?: AppDocuments;
  /** The skill file; unset: the extension is not declared. */
  skillCatalog?: SkillsExtension;
  fixtures?: McpFixtures;
}

/** Where `npm run build:page` writes the documents. */
export const APP_FOLDER = new URL('../../dist/mcp-app/', import.meta.url);

/** HTML by view. */
export type AppDocuments = Readonly<Record<AppView, string>>;

export function getAppFileName(view: AppView): string {
  return `${view}.html`;
}

/** Undefined where they have not been built: tools then answer with text and data alone. */
export function readAppDocuments(folder: URL = APP_FOLDER): AppDocuments | undefined {
  try {
    const read = (view: AppView) => readFileSync(new URL(getAppFileName(view), folder), 'utf8');
    return Object.fromEntries(APP_VIEWS.map((view) => [view, read(view)])) as unknown as AppDocuments;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * `call`: single answers are paid for with the call. `elsewhere`: over HTTP only, as this connection carries no payment. `off`: nothing over
 * MCP names or takes payments (setting `MCP_PAYMENTS`).
 */
export type McpPayments = 'call' | 'elsewhere' | 'off';

/** Null before the body is read, for a batch, and for an invalid one. */
export function getRpcId(body: unknown): string | number | null {
  const id = (body as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'number' || (typeof id === 'string' && id.length <= 100) ? id : null;
}
