import { A2A_ERROR_CODE } from '@a2a-js/sdk/errors';
import type { Request, Response } from 'express';
import type { AdapterError } from '../../adapter.ts';
import { sendRpcError } from '../bindings/json-rpc-response.ts';
import { isLegacyRestRequest } from '../bindings/versions.ts';
import { buildErrorInfo, ERROR_MAPPINGS, getProtocolReason } from './protocol-error.ts';

/** An invalid body is a JSON-RPC error under HTTP 200; other errors keep their HTTP status. */
const CODE_SENT_WITH_200 = 'INPUT_INVALID';

/** JSON-RPC error of the HTTP server (limits, body parser). */
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

/** `google.rpc.Status` in 1.0, and the error object of 0.3 below its paths. */
export function sendRestAdapterError(error: AdapterError, response: Response): void {
  const { status, message } = appendRequestId(error);
  if (isLegacyRestRequest(response.req))
    return void response.json({ code: getLegacyCode(error), message, data: [buildAdapterErrorInfo(error)] });
  const body = { error: { code: status, status: ERROR_MAPPINGS[error.code].status, message, details: [buildAdapterErrorInfo(error)] } };
  response.type(response.req.get('A2A-Version') === '1.0' ? 'application/a2a+json' : 'application/json').send(JSON.stringify(body));
}

/** NOT_FOUND of the HTTP server is an unknown path, which 0.3 reports as an unknown method. */
function getLegacyCode({ code }: AdapterError): number {
  return code === 'NOT_FOUND' ? A2A_ERROR_CODE.METHOD_NOT_FOUND : ERROR_MAPPINGS[code].rpc;
}

/** NOT_FOUND of the HTTP server is a path, so the reason is not TASK_NOT_FOUND. */
function buildAdapterErrorInfo(error: AdapterError) {
  return buildErrorInfo(error, error.code === 'NOT_FOUND' ? error.code : getProtocolReason(error.code));
}

/** The request id identifies the log line. */
function appendRequestId(error: AdapterError): AdapterError {
  return error.requestId === undefined ? error : { ...error, message: `${error.message} (request ${error.requestId})` };
}

/** Null before the body is read, and for an invalid id. */
function getRpcId({ body }: Request): string | number | null {
  const id: unknown = body?.id;
  if (typeof id === 'number') return id;
  return typeof id === 'string' && id.length <= 128 ? id : null;
}
