import { ProtocolErrorCode, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { OracleError } from '../errors.ts';
import { shortened } from './guidance.ts';
import { messageFault } from './message-fault.ts';
import { type RpcError, rpcError, SERVER_ERROR } from './rpc-error.ts';

/** Headers and body that disagree. Not among the codes that the SDK names. */
const HEADER_MISMATCH = -32_020;

/** Revisions of the protocol that are spoken here, newest first. */
export const REVISIONS: readonly string[] = ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS];

/** Methods of every revision, of those up to 2025-11-25, and of those after. */
export const METHODS = {
  all: [
    ...['tools/list', 'tools/call', 'resources/list', 'resources/templates/list', 'resources/read'],
    ...['prompts/list', 'prompts/get', 'completion/complete'],
  ],
  older: ['initialize', 'ping'],
  newer: ['server/discover', 'subscriptions/listen'],
} as const;

/** What is known of a request that was refused. */
export interface Refused {
  /** HTTP status, where there is one. */
  status?: number;
  /** Its body. */
  body?: unknown;
}

type Words = (error: RpcError, refused: Refused) => OracleError | undefined;

const WORDS: Record<number, Words> = {
  [SERVER_ERROR]: aboutHeaders,
  [HEADER_MISMATCH]: (error) =>
    invalid(headerIn(error.message), error.message, 'Let headers and body say the same, as the revision of the request has it.'),
  [ProtocolErrorCode.ParseError]: () => invalid('body', 'The body is not JSON', 'Send JSON in UTF-8.'),
  [ProtocolErrorCode.InvalidRequest]: (error, { body }) =>
    messageFault(body) ?? invalid(Array.isArray(body) ? 'batch' : 'body', error.message, 'Send such messages one by one.'),
  [ProtocolErrorCode.MethodNotFound]: () => invalid('method', 'There is no such method', adviceOnMethods()),
  [ProtocolErrorCode.InvalidParams]: (error) => {
    const field = has(error.data, 'envelope') ? '_meta' : 'params';
    return invalid(field, error.message, 'Send what the protocol describes.');
  },
  [ProtocolErrorCode.InternalError]: () => new OracleError('INTERNAL', 'The request failed'),
  [ProtocolErrorCode.MissingRequiredClientCapability]: (error) =>
    invalid('clientCapabilities', error.message, 'Declare the capability, or call what does not need it.'),
  [ProtocolErrorCode.UnsupportedProtocolVersion]: (error) => invalid('protocolVersion', error.message, adviceOnRevisions()),
};

/**
 * An error of the SDK itself, with what to do about it. Its code and data stay, by which the protocol knows it; one that says what to
 * do already stays as it is.
 */
export function completedError(error: RpcError, refused: Refused = {}): RpcError {
  if (has(error.data, 'suggestedAction') || has(error.data, 'uri')) return error;
  if (error.code === ProtocolErrorCode.InternalError && isOfSchema(error.message)) return unreadable();
  const words = WORDS[error.code]?.(error, refused);
  return words === undefined ? error : rpcError(error.code, words, error.data as object | undefined);
}

/** What does not fit its schema is told as a fault of the server, with the text of the schema's language. */
function isOfSchema(message: string): boolean {
  return message.startsWith('[');
}

function unreadable(): RpcError {
  return rpcError(
    ProtocolErrorCode.InvalidParams,
    invalid('params', 'The parameters are not of the form that the protocol gives them', 'Send what the protocol describes.'),
  );
}

function aboutHeaders({ message }: RpcError, { status }: Refused): OracleError | undefined {
  if (status === 406) {
    return invalid('Accept', 'The answer may be JSON or a stream', 'Send "Accept: application/json, text/event-stream".');
  }
  if (status === 400) return invalid('MCP-Protocol-Version', message.replace(/ \(supported.*$/s, ''), adviceOnRevisions());
  return undefined;
}

function headerIn(message: string): string {
  return /\b(MCP-Protocol-Version|Mcp-[\w-]+)\b/.exec(message)?.[1] ?? 'headers';
}

function adviceOnRevisions(): string {
  return `Speak one of ${REVISIONS.join(', ')}.`;
}

function adviceOnMethods(): string {
  const { all, older, newer } = METHODS;
  return `Call one of ${all.join(', ')}; up to 2025-11-25 also ${older.join(', ')}, from 2026-07-28 on also ${newer.join(', ')}.`;
}

function has(data: unknown, member: string): boolean {
  return typeof data === 'object' && data !== null && member in data;
}

/** The words of the SDK may repeat what was sent. */
function invalid(field: string, message: string, suggestedAction: string): OracleError {
  return new OracleError('INPUT_INVALID', shortened(message.replace(/^Bad Request: /, '')), { field, suggestedAction });
}
