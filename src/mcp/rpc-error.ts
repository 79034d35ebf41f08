import type { OracleError } from '../errors.ts';
import { toldError } from '../errors.ts';

/** An error as JSON-RPC tells it. */
export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** Of the range that JSON-RPC leaves to servers. */
export const SERVER_ERROR = -32_000;

/** An error of ours under a code of the protocol, which may have data of its own for it. */
export function rpcError(code: number, error: OracleError, data?: object): RpcError {
  const told = toldError(error);
  return { code, message: `${told.message}. ${told.suggestedAction}`, data: { ...data, ...told } };
}
