import { A2A_ERROR_CODE } from '@a2a-js/sdk/errors';
import type { Response } from 'express';
import { type ErrorCode, OracleError, toClientError } from '../../../platform/errors.ts';
import { buildErrorInfo, ERROR_MAPPINGS } from './protocol-error.ts';

const UNREADABLE_PARAMS = 'The parameters are not of the form that the protocol gives them';

/** Of JSON-RPC, and of HTTP+JSON in protocol 0.3. */
interface CodedError {
  code: number;
  message: string;
  data?: unknown;
}

/** Of HTTP+JSON in protocol 1.0. */
interface StatusError {
  code: number;
  status: string;
  message: string;
  details: { reason?: string; metadata?: Record<string, string> }[];
}

/**
 * The library refuses what it cannot read before this service sees it, at worst with a text of the language. What comes from this
 * service says more, so what says nothing is about the form of the request.
 */
export function completeRpcError(error: CodedError): CodedError {
  if (hasOwnCode(error.data)) return { ...error, code: getOwnRpcCode(error) };
  const known = error.code !== A2A_ERROR_CODE.INTERNAL_ERROR;
  const message = known ? truncateMessage(error.message) : UNREADABLE_PARAMS;
  return {
    code: known ? error.code : A2A_ERROR_CODE.INVALID_PARAMS,
    message,
    data: [buildInputErrorInfo(message, 'INVALID_PARAMS', 'params')],
  };
}

/** The library calls internal whatever the protocol has no name for. */
function getOwnRpcCode({ code, data }: CodedError): number {
  const isUnnamed = code === A2A_ERROR_CODE.INTERNAL_ERROR;
  return (isUnnamed && findErrorMapping((data as { reason?: string }[])[0]?.reason)?.rpc) || code;
}

/** How what is told under our own code is told. */
function findErrorMapping(reason: string = ''): { rpc: number; status: string } | undefined {
  return Object.hasOwn(ERROR_MAPPINGS, reason) ? ERROR_MAPPINGS[reason as ErrorCode] : undefined;
}

function hasOwnCode(data: unknown): boolean {
  return Array.isArray(data) && data.some((detail) => detail?.metadata?.code !== undefined);
}

/** An answer of the library over HTTP+JSON, with its status. */
export function sendCompletedError(response: Response, send: (body: unknown) => Response, body: unknown): Response {
  if (isStatusError(body)) {
    const { error } = body;
    const reason = error.details[0]?.reason;
    if (error.details[0]?.metadata?.code !== undefined)
      return send({ error: { ...error, status: findErrorMapping(reason)?.status ?? error.status } });
    const message = reason === undefined ? UNREADABLE_PARAMS : truncateMessage(error.message);
    response.status(reason === undefined ? 400 : error.code);
    const status = reason === undefined ? 'INVALID_ARGUMENT' : error.status;
    return send({
      error: { code: response.statusCode, status, message, details: [buildInputErrorInfo(message, reason ?? 'INVALID_PARAMS', 'request')] },
    });
  }
  if (!isCodedError(body)) return send(body);
  if (body.code === A2A_ERROR_CODE.INTERNAL_ERROR && body.data === undefined) response.status(400);
  return send(completeRpcError(body));
}

function buildInputErrorInfo(message: string, reason: string, field: string) {
  return buildErrorInfo(toClientError(new OracleError('INPUT_INVALID', message, { field })), reason);
}

function isStatusError(body: unknown): body is { error: StatusError } {
  return Array.isArray((body as { error?: Partial<StatusError> } | null)?.error?.details);
}

function isCodedError(body: unknown): body is CodedError {
  const { code, message } = (body ?? {}) as Partial<CodedError>;
  return typeof code === 'number' && typeof message === 'string';
}

/** It may repeat what was sent. */
function truncateMessage(message: string): string {
  return message.slice(0, 200);
}
