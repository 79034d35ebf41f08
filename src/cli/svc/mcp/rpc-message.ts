import { OracleError, toClientError } from '../../../platform/errors.ts';

/** A JSON-RPC 2.0 message, of which the relay reads only what it routes by. */
export interface RpcMessage {
  jsonrpc: '2.0';
  id?: string | number | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: Record<string, unknown>;
}

/** A message, or several of them, as revisions up to 2025-03-26 allow. */
export type RpcBody = RpcMessage | RpcMessage[];

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
/** From the range that JSON-RPC 2.0 leaves to implementations. */
const SERVER_ERROR = -32_000;

export function isRpcBody(value: unknown): value is RpcBody {
  return Array.isArray(value) ? value.length > 0 && value.every(isRpcMessage) : isRpcMessage(value);
}

function isRpcMessage(value: unknown): value is RpcMessage {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
}

/** @throws OracleError INPUT_INVALID with the JSON-RPC code as its detail `rpcCode` */
export function parseRpcLine(line: string): RpcBody {
  const value = parseJson(line);
  if (!isRpcBody(value)) throw invalidLine('The line is not a JSON-RPC message', INVALID_REQUEST);
  return value;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw invalidLine('The line is not JSON', PARSE_ERROR);
  }
}

function invalidLine(message: string, rpcCode: number): OracleError {
  const suggestedAction = 'Send one JSON-RPC 2.0 message per line, in UTF-8, such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}.';
  return new OracleError('INPUT_INVALID', message, { field: 'line', suggestedAction, details: { rpcCode } });
}

/** The id under which a request waits for its answer; undefined for notifications, answers and batches. */
export function getRequestId(body: RpcBody): string | number | undefined {
  if (Array.isArray(body) || body.method === undefined) return undefined;
  return body.id ?? undefined;
}

/** Error as the service serializes it over HTTP. Causes are not exposed. */
export function toErrorReply(id: string | number | null, error: unknown): RpcMessage {
  const data = toClientError(error);
  const code = data.details?.rpcCode ?? SERVER_ERROR;
  return { jsonrpc: '2.0', id, error: { code, message: `${data.message}. ${data.suggestedAction}`, data } };
}
