import { ProtocolErrorCode, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { OracleError } from '../../../platform/errors.ts';
import { findMessageFault } from '../validation/json-rpc-message.ts';
import { truncateText } from './handler-errors.ts';
import { type RpcErrorBody, SERVER_ERROR, toRpcError } from './rpc-error.ts';

/** Headers and body that disagree. Not among the codes that the SDK names. */
const HEADER_MISMATCH = -32_020;

/** Revisions of the protocol that are spoken here, newest first. */
export const SUPPORTED_REVISIONS: readonly string[] = ['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS];

/** Methods of every revision, of those up to 2025-11-25, and of those after. */
export const MCP_METHODS = {
  all: [
    ...['tools/list', 'tools/call', 'resources/list', 'resources/templates/list', 'resources/read'],
    ...['prompts/list', 'prompts/get', 'completion/complete'],
  ],
  older: ['initialize', 'ping'],
  newer: ['server/discover', 'subscriptions/listen'],
} as const;

/** What is known of a request that was refused. */
export interface RejectedRequest {
  /** HTTP status, where there is one. */
  status?: number;
  /** Its body. */
  body?: unknown;
}

type ErrorMapper = (error: RpcErrorBody, refused: RejectedRequest) => OracleError | undefined;

const ERROR_MAPPERS: Record<number, ErrorMapper> = {
  [SERVER_ERROR]: mapHeaderError,
  [HEADER_MISMATCH]: (error) =>
    invalidRequest(
      findHeaderName(error.message),
      error.message,
      'Let headers and body say the same, as the revision of the request has it.',
    ),
  [ProtocolErrorCode.ParseError]: () => invalidRequest('body', 'The body is not JSON', 'Send JSON in UTF-8.'),
  [ProtocolErrorCode.InvalidRequest]: (error, { body }) =>
    findMessageFault(body) ?? invalidRequest(Array.isArray(body) ? 'batch' : 'body', error.message, 'Send such messages one by one.'),
  [ProtocolErrorCode.MethodNotFound]: () => invalidRequest('method', 'There is no such method', formatMethodAdvice()),
  [ProtocolErrorCode.InvalidParams]: (error) => {
    const field = hasMember(error.data, 'envelope') ? '_meta' : 'params';
    return invalidRequest(field, error.message, 'Send what the protocol describes.');
  },
  [ProtocolErrorCode.InternalError]: () => new OracleError('INTERNAL', 'The request failed'),
  [ProtocolErrorCode.MissingRequiredClientCapability]: (error) =>
    invalidRequest('clientCapabilities', error.message, 'Declare the capability, or call what does not need it.'),
  [ProtocolErrorCode.UnsupportedProtocolVersion]: (error) => invalidRequest('protocolVersion', error.message, formatRevisionAdvice()),
};

/**
 * An error of the SDK itself, with what to do about it. Its code and data stay, by which the protocol knows it; one that says what to
 * do already stays as it is.
 */
export function completeSdkError(error: RpcErrorBody, refused: RejectedRequest = {}): RpcErrorBody {
  if (hasMember(error.data, 'suggestedAction') || hasMember(error.data, 'uri')) return error;
  if (error.code === ProtocolErrorCode.InternalError && isSchemaError(error.message)) return unreadableParams();
  const mapped = ERROR_MAPPERS[error.code]?.(error, refused);
  return mapped === undefined ? error : toRpcError(error.code, mapped, error.data as object | undefined);
}

/** What does not fit its schema is told as a fault of the server, with the text of the schema's language. */
function isSchemaError(message: string): boolean {
  return message.startsWith('[');
}

function unreadableParams(): RpcErrorBody {
  return toRpcError(
    ProtocolErrorCode.InvalidParams,
    invalidRequest('params', 'The parameters are not of the form that the protocol gives them', 'Send what the protocol describes.'),
  );
}

function mapHeaderError({ message }: RpcErrorBody, { status }: RejectedRequest): OracleError | undefined {
  if (status === 406) {
    return invalidRequest('Accept', 'The answer may be JSON or a stream', 'Send "Accept: application/json, text/event-stream".');
  }
  if (status === 400) return invalidRequest('MCP-Protocol-Version', message.replace(/ \(supported.*$/s, ''), formatRevisionAdvice());
  return undefined;
}

function findHeaderName(message: string): string {
  return /\b(MCP-Protocol-Version|Mcp-[\w-]+)\b/.exec(message)?.[1] ?? 'headers';
}

function formatRevisionAdvice(): string {
  return `Speak one of ${SUPPORTED_REVISIONS.join(', ')}.`;
}

function formatMethodAdvice(): string {
  const { all, older, newer } = MCP_METHODS;
  return `Call one of ${all.join(', ')}; up to 2025-11-25 also ${older.join(', ')}, from 2026-07-28 on also ${newer.join(', ')}.`;
}

function hasMember(data: unknown, member: string): boolean {
  return typeof data === 'object' && data !== null && member in data;
}

/** The words of the SDK may repeat what was sent. */
function invalidRequest(field: string, message: string, suggestedAction: string): OracleError {
  return new OracleError('INPUT_INVALID', truncateText(message.replace(/^Bad Request: /, '')), { field, suggestedAction });
}
