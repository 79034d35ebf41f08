import { A2A_ERROR_CODE } from '@a2a-js/sdk/errors';
import type { Request, Response } from 'express';
import type { DoorError } from '../access/door.ts';
import { errorInfoOf, reasonOf, TELLINGS } from './protocol-error.ts';
import { sendRpcError } from './rpc-response.ts';
import { isLegacyRest } from './versions.ts';

/** A wrong body is an answer of the protocol like any other: JSON-RPC tells it under HTTP 200. */
const TOLD_UNDER_200 = 'INPUT_INVALID';

/** An error of the door as JSON-RPC. */
export function tellJsonRpc(error: DoorError, response: Response): void {
  const unread = error.code === TOLD_UNDER_200 && error.field === 'body';
  const code = unread ? A2A_ERROR_CODE.PARSE_ERROR : TELLINGS[error.code].rpc;
  if (error.code === TOLD_UNDER_200) response.status(200);
  sendJsonRpcError(response, code, error);
}

export function sendJsonRpcError(response: Response, code: number, error: DoorError): void {
  const { message } = withRequestId(error);
  sendRpcError(response, { jsonrpc: '2.0', id: idOf(response.req), error: { code, message, data: [infoOf(error)] } });
}

/** An error of the door as `google.rpc.Status`, or as protocol 0.3 has it below its own paths. */
export function tellRest(error: DoorError, response: Response): void {
  const { status, message } = withRequestId(error);
  if (isLegacyRest(response.req)) return void response.json({ code: legacyCodeOf(error), message, data: [infoOf(error)] });
  const body = { error: { code: status, status: TELLINGS[error.code].status, message, details: [infoOf(error)] } };
  response.type(response.req.get('A2A-Version') === '1.0' ? 'application/a2a+json' : 'application/json').send(JSON.stringify(body));
}

/** A path that is not served is a method that does not exist, and no task. */
function legacyCodeOf({ code }: DoorError): number {
  return code === 'NOT_FOUND' ? A2A_ERROR_CODE.METHOD_NOT_FOUND : TELLINGS[code].rpc;
}

/** What is not found at a door is a path, no task. */
function infoOf(error: DoorError) {
  return errorInfoOf(error, error.code === 'NOT_FOUND' ? error.code : reasonOf(error.code));
}

/** Whoever reports it names the line in the log. */
function withRequestId(error: DoorError): DoorError {
  return error.requestId === undefined ? error : { ...error, message: `${error.message} (request ${error.requestId})` };
}

/** Of the request, where it is one that can be told apart. */
function idOf({ body }: Request): string | number | null {
  const id: unknown = body?.id;
  if (typeof id === 'number') return id;
  return typeof id === 'string' && id.length <= 128 ? id : null;
}
