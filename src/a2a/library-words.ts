import { A2A_ERROR_CODE } from '@a2a-js/sdk/errors';
import type { Response } from 'express';
import { type ErrorCode, OracleError, toldError } from '../errors.ts';
import { errorInfoOf, TELLINGS } from './protocol-error.ts';

const UNREADABLE = 'The parameters are not of the form that the protocol gives them';

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
export function completedError(error: CodedError): CodedError {
  if (saysOurCode(error.data)) return { ...error, code: ownNumberOf(error) };
  const known = error.code !== A2A_ERROR_CODE.INTERNAL_ERROR;
  const message = known ? bounded(error.message) : UNREADABLE;
  return { code: known ? error.code : A2A_ERROR_CODE.INVALID_PARAMS, message, data: [infoFor(message, 'INVALID_PARAMS', 'params')] };
}

/** The library calls internal whatever the protocol has no name for. */
function ownNumberOf({ code, data }: CodedError): number {
  const isUnnamed = code === A2A_ERROR_CODE.INTERNAL_ERROR;
  return (isUnnamed && own((data as { reason?: string }[])[0]?.reason)?.rpc) || code;
}

/** How what is told under our own code is told. */
function own(reason: string = ''): { rpc: number; status: string } | undefined {
  return Object.hasOwn(TELLINGS, reason) ? TELLINGS[reason as ErrorCode] : undefined;
}

function saysOurCode(data: unknown): boolean {
  return Array.isArray(data) && data.some((detail) => detail?.metadata?.code !== undefined);
}

/** An answer of the library over HTTP+JSON, with its status. */
export function sendCompleted(response: Response, send: (body: unknown) => Response, body: unknown): Response {
  if (isStatusError(body)) {
    const { error } = body;
    const reason = error.details[0]?.reason;
    if (error.details[0]?.metadata?.code !== undefined) return send({ error: { ...error, status: own(reason)?.status ?? error.status } });
    const message = reason === undefined ? UNREADABLE : bounded(error.message);
    response.status(reason === undefined ? 400 : error.code);
    const status = reason === undefined ? 'INVALID_ARGUMENT' : error.status;
    return send({
      error: { code: response.statusCode, status, message, details: [infoFor(message, reason ?? 'INVALID_PARAMS', 'request')] },
    });
  }
  if (!isCodedError(body)) return send(body);
  if (body.code === A2A_ERROR_CODE.INTERNAL_ERROR && body.data === undefined) response.status(400);
  return send(completedError(body));
}

function infoFor(message: string, reason: string, field: string) {
  return errorInfoOf(toldError(new OracleError('INPUT_INVALID', message, { field })), reason);
}

function isStatusError(body: unknown): body is { error: StatusError } {
  return Array.isArray((body as { error?: Partial<StatusError> } | null)?.error?.details);
}

function isCodedError(body: unknown): body is CodedError {
  const { code, message } = (body ?? {}) as Partial<CodedError>;
  return typeof code === 'number' && typeof message === 'string';
}

/** It may repeat what was sent. */
function bounded(message: string): string {
  return message.slice(0, 200);
}
