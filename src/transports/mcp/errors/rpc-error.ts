import type { OracleError } from '../../../platform/errors.ts';
import { toClientError } from '../../../platform/errors.ts';

/** An error as JSON-RPC tells it. */
export interface RpcErrorBody {
  code: number;
  message: string;
  data?: unknown;
}

/** Of the range that JSON-RPC leaves to servers. */
export const SERVER_ERROR = -32_000;

/** An error of ours under a code of the protocol, which may have data of its own for it. */
export function toRpcError(code: number, error: OracleError, data?: object): RpcErrorBody {
  const clientError = toClientError(error);
  return { code, message: `${clientError.message}. ${clientError.suggestedAction}`, data: { ...data, ...clientError } };
}
