import { z } from 'zod';
import { isObject } from '../../plain-object.ts';
import { READING_METHOD_NAMES, READING_METHODS, type ReadingMethod } from './methods.ts';

/** A call that may be passed on. */
export interface ReadingCall {
  id: RpcId;
  method: ReadingMethod;
  params: unknown[];
}

type RpcId = string | number | null;

/** Codes of JSON-RPC 2.0, and of EIP-1474 for what is beyond a limit. */
export const RPC_ERROR = {
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  limitExceeded: -32_005,
} as const;

export interface RpcError {
  code: number;
  message: string;
  data?: string;
}

/** One answer of JSON-RPC 2.0: with a result, or with an error. */
export interface RpcAnswer {
  jsonrpc: '2.0';
  id: RpcId;
  result?: unknown;
  error?: RpcError;
}

const ID = z.union([z.string().max(128), z.number(), z.null()]);

export function errorAnswer(id: RpcId, code: number, message: string): RpcAnswer {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** A call as it may be passed on, or what is wrong with it. Nothing that the caller wrote is in the words of an error. */
export function readCall(value: unknown): ReadingCall | RpcAnswer {
  if (!isObject(value)) {
    return errorAnswer(null, RPC_ERROR.invalidRequest, 'A call is an object with jsonrpc, id, method and params');
  }
  const { jsonrpc, id: given, method, params = [] } = value;
  const parsedId = ID.safeParse(given);
  if (!parsedId.success)
    return errorAnswer(null, RPC_ERROR.invalidRequest, 'id must be a number, a text of at most 128 characters or null');
  const id = parsedId.data;
  if (jsonrpc !== '2.0') return errorAnswer(id, RPC_ERROR.invalidRequest, 'jsonrpc must be "2.0"');
  if (typeof method !== 'string') return errorAnswer(id, RPC_ERROR.invalidRequest, 'method must be a text');
  if (!isReading(method))
    return errorAnswer(id, RPC_ERROR.methodNotFound, `Only reading is served here: ${READING_METHOD_NAMES.join(', ')}`);
  const parsed = READING_METHODS[method].safeParse(params);
  if (parsed.success) return { id, method, params: parsed.data };
  return errorAnswer(id, RPC_ERROR.invalidParams, `${method}: ${wordsOf(parsed.error)}`);
}

function isReading(method: string): method is ReadingMethod {
  return Object.hasOwn(READING_METHODS, method);
}

function wordsOf({ issues: [{ code, path, message }] }: z.ZodError): string {
  if (path.length === 0 && code === 'too_big') return 'there are more parameters than it takes here; overrides of the state are not served';
  const place = path.length === 0 ? 'params' : `params.${path.join('.')}`;
  return `${place} ${/^must /.test(message) ? message : 'is missing, or not of the form that it must have'}`;
}
