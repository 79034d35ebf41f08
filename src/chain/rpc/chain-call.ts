import { BaseError, ContractFunctionRevertedError, ContractFunctionZeroDataError, ExecutionRevertedError, RpcRequestError } from 'viem';
import { getErrorMessage, isOracleError, OracleError } from '../../platform/errors.ts';

/** JSON-RPC error code of a reverted execution in geth, reth and anvil; EIP-1474 defines none. */
const EXECUTION_REVERTED_CODE = 3;

/**
 * Wraps an error of the RPC client once. Clients read the message: text from viem, the node or the contract goes into the cause only,
 * without the endpoint's URL, which may contain an API key. @param what names the call, e.g. `Reading a schema`
 * @throws OracleError CHAIN_REVERTED when the EVM reverted, CHAIN_UNREACHABLE for any other failure
 */
export async function chainCall<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toChainError(what, error);
  }
}

export function toChainError(what: string, error: unknown): OracleError {
  if (isOracleError(error)) return error;
  const cause = redactUrl(error);
  if (isRevert(error)) return new OracleError('CHAIN_REVERTED', `${what} reverted`, { cause });
  return new OracleError('CHAIN_UNREACHABLE', `${what} failed: the chain gives no usable answer`, {
    cause,
    suggestedAction: 'Retry later; if it persists, check the RPC endpoint.',
  });
}

/** The node's error message in lower case, to classify why it rejected a call or transaction. */
export function getNodeMessage(error: unknown): string {
  if (!(error instanceof BaseError)) return getErrorMessage(error).toLowerCase();
  return `${error.details ?? ''} ${error.shortMessage}`.toLowerCase();
}

function isRevert(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  const reverted = error.walk(
    (e) =>
      e instanceof ContractFunctionRevertedError ||
      e instanceof ContractFunctionZeroDataError ||
      e instanceof ExecutionRevertedError ||
      (e instanceof RpcRequestError && e.code === EXECUTION_REVERTED_CODE),
  );
  return reverted !== null;
}

/** viem quotes the URL in its long message and `metaMessages`, but not in its short message and details. */
function redactUrl(error: unknown): Error {
  const message = error instanceof BaseError ? [error.shortMessage, error.details].filter(Boolean).join(' ') : getErrorMessage(error);
  const cause = new Error(message.replaceAll(/https?:\/\/\S+/g, '<endpoint>'));
  if (error instanceof Error) cause.name = error.name;
  return cause;
}
