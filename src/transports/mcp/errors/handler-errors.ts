import { type McpServer, ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import { SKILLS } from '../../../../skills/index.ts';
import { isOracleError, toClientError } from '../../../platform/errors.ts';
import type { McpServerOptions } from '../options.ts';
import { SERVER_ERROR } from './rpc-error.ts';

/** A caller's own words come back with an error; so much of them does. */
const MAX_QUOTED_CHARACTERS = 300;

/** What a caller does about a name that there is not, by method. */
export const ADVICE_BY_METHOD: Record<string, { field: string; suggestedAction: string }> = {
  'tools/call': { field: 'skill', suggestedAction: `Name one of ${SKILLS.map(({ id }) => id).join(', ')}.` },
  'prompts/get': { field: 'name', suggestedAction: 'Name a prompt that prompts/list describes.' },
  'completion/complete': { field: 'ref', suggestedAction: 'Name what prompts/list or resources/templates/list describes.' },
  'resources/read': { field: 'uri', suggestedAction: 'Read a URI that resources/list names or resources/templates/list describes.' },
};

type Handler = (request: never, context: never) => unknown;

/**
 * Has every error of a server say what to do, and no more of the caller's words than fits a line. Before anything is registered:
 * the SDK has no other place where its own errors can be told in our words.
 */
export function wrapHandlerErrors({ server }: McpServer, { onError }: Pick<McpServerOptions, 'onError'>): void {
  const set = server.setRequestHandler.bind(server) as (method: string, ...rest: unknown[]) => void;
  const wrapHandler = (method: string, handler: Handler) => async (request: never, context: never) => {
    try {
      return await handler(request, context);
    } catch (error) {
      if (!isOracleError(error) && !(error instanceof ProtocolError)) onError?.(error);
      throw toMcpError(error, method);
    }
  };
  server.setRequestHandler = ((method: string, ...rest: unknown[]) => {
    const handler = rest.pop() as Handler;
    set(method, ...rest, wrapHandler(method, handler));
  }) as typeof server.setRequestHandler;
}

/** A URI that leads nowhere. The protocol knows it by data that holds the URI and nothing else, so what to do stands in the message. */
export function resourceNotFound(uri: string, why: string): ResourceNotFoundError {
  return new ResourceNotFoundError(truncateText(uri), `${truncateText(why)}. ${ADVICE_BY_METHOD['resources/read']?.suggestedAction}`);
}

function toMcpError(error: unknown, method: string): unknown {
  if (error instanceof ResourceNotFoundError)
    return isSdkNotFound(error) ? resourceNotFound(error.uri, 'There is no such resource') : error;
  if (error instanceof ProtocolError) return error.code === ProtocolErrorCode.InvalidParams ? addAdvice(error, method) : error;
  const clientError = toClientError(error);
  return new ProtocolError(toRpcErrorCode(clientError.code), `${clientError.message}. ${clientError.suggestedAction}`, clientError);
}

function isSdkNotFound({ message, uri }: ResourceNotFoundError): boolean {
  return message === `Resource not found: ${uri}`;
}

/** What is asked for wrongly is the caller's fault, everything else the server's. */
function toRpcErrorCode(code: string): number {
  if (code === 'INTERNAL') return ProtocolErrorCode.InternalError;
  return code === 'INPUT_INVALID' || code === 'NOT_FOUND' ? ProtocolErrorCode.InvalidParams : SERVER_ERROR;
}

/** The SDK repeats the name that it does not know, of whatever length. */
function addAdvice({ code, message }: ProtocolError, method: string): ProtocolError {
  const advice = ADVICE_BY_METHOD[method] ?? { suggestedAction: 'Send what the protocol describes.' };
  const what = truncateText(message);
  return new ProtocolError(code, `${what}. ${advice.suggestedAction}`, {
    code: 'INPUT_INVALID',
    message: what,
    retryable: false,
    ...advice,
  });
}

/** The SDK repeats what was sent, of whatever length. */
export function truncateText(text: string): string {
  return text.length > MAX_QUOTED_CHARACTERS ? `${text.slice(0, MAX_QUOTED_CHARACTERS)}...` : text;
}
