import { A2A_ERROR_CODE } from '@a2a-js/sdk/errors';
import type { ErrorCode } from '../../../platform/errors.ts';
import { ERROR_MAPPINGS } from './protocol-error.ts';

/** Error member of a JSON-RPC response, and the whole error body over HTTP+JSON 0.3. */
export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** Error member over HTTP+JSON 1.0, a `google.rpc.Status`. */
interface StatusError {
  status: string;
  details: unknown;
}

/** The SDK sends -32603 for errors of ours that have no name in the protocol. */
export function correctRpcError(error: RpcError): RpcError {
  const mapping = error.code === A2A_ERROR_CODE.INTERNAL_ERROR ? findErrorMapping(error.data) : undefined;
  return mapping === undefined ? error : { ...error, code: mapping.rpc };
}

/** The same over HTTP+JSON, where the SDK writes UNKNOWN in place of the `google.rpc.Code` (A2A 1.0, section 11.6). */
export function correctRestBody(body: unknown): unknown {
  const { code, message, error } = (body ?? {}) as Partial<RpcError> & { error?: StatusError };
  if (typeof code === 'number' && typeof message === 'string') return correctRpcError(body as RpcError);
  const mapping = findErrorMapping(error?.details);
  return mapping === undefined ? body : { error: { ...error, status: mapping.status } };
}

/** `ErrorInfo.reason` is our own code where the protocol has no name for it. */
function findErrorMapping(details: unknown): { rpc: number; status: string } | undefined {
  const reason: unknown = Array.isArray(details) ? details[0]?.reason : undefined;
  return typeof reason === 'string' && Object.hasOwn(ERROR_MAPPINGS, reason) ? ERROR_MAPPINGS[reason as ErrorCode] : undefined;
}
