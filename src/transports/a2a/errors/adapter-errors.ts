import { A2A_ERROR_CODE } from '@a2a-js/sdk/errors';
import type { Request, Response } from 'express';
import type { AdapterError } from '../../adapter.ts';
import { sendRpcError } from '../bindings/json-rpc-response.ts';
import { isLegacyRestRequest } from '../bindings/versions.ts';
import { buildErrorInfo, ERROR_MAPPINGS, getProtocolReason } from './protocol-error.ts';

/** A wrong body is an answer of the protocol like any other: JSON-RPC tells it under HTTP 200. */
const CODE_SENT_WITH_200 = 'INPUT_INVALID';

/** An error of the door as JSON-RPC. */
export function sendJsonRpcAdapterError(error: AdapterError, response: Response): void {
  const unread = error.code === CODE_SENT_WITH_200 && error.field === 'body';
  const code = unread ? A2A_ERROR_CODE.PARSE_ERROR : ERROR_MAPPINGS[error.code].rpc;
  if (error.code === CODE_SENT_WITH_200) response.status(200);
  sendJsonRpcError(response, code, error);
}

export function sendJsonRpcError(response: Response, code: number, error: AdapterError): void {
  const { message } = appendRequestId(error);
  sendRpcError(response, { jsonrpc: '2.0', id: getRpcId(response.req), error: { code, message, data: [buildAdapterErrorInfo(error)] } });
}

/** An error of the door as `google.rpc.Status`, or as protocol 0.3 has it below its own paths. */
export function sendRestAdapterError(error: AdapterError, response: Response): void {
  const { status, message } = appendRequestId(error);
  if (isLegacyRestRequest(response.req))
    return void response.json({ code: getLegacyCode(error), message, data: [buildAdapterErrorInfo(error)] });
  const body = { error: { code: status, status: ERROR_MAPPINGS[error.code].status, message, details: [buildAdapterErrorInfo(error)] } };
  response.type(response.req.get('A2A-Version') === '1.0' ? 'application/a2a+json' : 'application/json').send(JSON.stringify(body));
}

/** A path that is not served is a method that does not exist, and no task. */
function getLegacyCode({ code }: AdapterError): number {
  return code === 'NOT_FOUND' ? A2A_ERROR_CODE.METHOD_NOT_FOUND : ERROR_MAPPINGS[code].rpc;
}

/** What is not found at a door is a path, no task. */
function buildAdapterErrorInfo(error: AdapterError) {
  return buildErrorInfo(error, error.code === 'NOT_FOUND' ? error.code : getProtocolReason(error.code));
}

/** Whoever reports it names the line in the log. */
function appendRequestId(error: AdapterError): AdapterError {
  return error.requestId === undefined ? error : { ...error, message: `${error.message} (request ${error.requestId})` };
}

/** Of the request, where it is one that can be told apart. */
function getRpcId({ body }: Request): string | number | null {
  const id: unknown = body?.id;
  if (typeof id === 'number') return id;
  return typeof id === 'string' && id.length <= 128 ? id : null;
}
