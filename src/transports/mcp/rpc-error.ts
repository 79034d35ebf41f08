import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import { isOracleError, OracleError, toClientError } from '../../platform/errors.ts';

/** Requests are repeated in errors up to this length. */
const MAX_QUOTED_CHARACTERS = 300;

/** From the range that JSON-RPC 2.0 leaves to implementations. */
export const SERVER_ERROR = -32_000;

export type ErrorGuard = <Args extends unknown[], Result>(
  callback: (...args: Args) => Result | Promise<Result>,
) => (...args: Args) => Promise<Result>;

/** The SDK would send the message of any error to the client. Unknown errors become INTERNAL; `onError` gets them for the log. */
export function createErrorGuard(onError?: (error: unknown) => void): ErrorGuard {
  return (callback) =>
    async (...args) => {
      try {
        return await callback(...args);
      } catch (error) {
        if (error instanceof ProtocolError) throw error;
        if (!isOracleError(error)) onError?.(error);
        throw toProtocolError(error);
      }
    };
}

/** @param error of the SDK, whose message names the members */
export function malformedParameters(method: string, error: unknown): ProtocolError {
  const found = error instanceof Error ? truncate(error.message.replaceAll(/\s+/g, ' ')) : 'unknown';
  const suggestedAction = 'Send the parameters of this method as the specification of MCP describes them.';
  return toProtocolError(
    new OracleError('INPUT_INVALID', `Malformed parameters of ${method}: ${found}`, { field: 'params', suggestedAction }),
  );
}

function toProtocolError(error: unknown): ProtocolError {
  const clientError = toClientError(error);
  const { code, message, suggestedAction } = clientError;
  return new ProtocolError(toRpcErrorCode(code), `${message}. ${suggestedAction}`, clientError);
}

function toRpcErrorCode(code: string): number {
  if (code === 'INTERNAL') return ProtocolErrorCode.InternalError;
  return code === 'INPUT_INVALID' || code === 'NOT_FOUND' ? ProtocolErrorCode.InvalidParams : SERVER_ERROR;
}

/** Clients recognize this error by `data` with nothing but the URI, so the suggested action is part of the message. */
export function resourceNotFound(uri: string, reason: string): ResourceNotFoundError {
  const suggestedAction = 'Read a URI that resources/list names or resources/templates/list describes.';
  return new ResourceNotFoundError(truncate(uri), `${truncate(reason)}. ${suggestedAction}`);
}

function truncate(text: string): string {
  return text.length > MAX_QUOTED_CHARACTERS ? `${text.slice(0, MAX_QUOTED_CHARACTERS)}...` : text;
}
