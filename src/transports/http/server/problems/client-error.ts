import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { OracleError } from '../../../../platform/errors.ts';
import { toProblemDetails } from './problem.ts';

/** Answers a request that the HTTP parser rejects, on the raw socket, and closes the connection. */
export function answerClientError({ code }: NodeJS.ErrnoException, socket: Duplex): void {
  // The client is gone, or a response is half written.
  if (code === 'ECONNRESET' || !socket.writable || ('bytesWritten' in socket && socket.bytesWritten !== 0)) return void socket.destroy();
  const { status, error } = toClientFault(code);
  const body = JSON.stringify({ ...toProblemDetails(error, ''), status, title: STATUS_CODES[status] });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function toClientFault(code: string | undefined): { status: number; error: OracleError } {
  if (code === 'HPE_HEADER_OVERFLOW')
    return { status: 431, error: new OracleError('PAYLOAD_TOO_LARGE', 'The request headers are too large') };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return { status: 408, error: new OracleError('INPUT_INVALID', 'The request was not complete in time') };
  return { status: 400, error: new OracleError('INPUT_INVALID', 'Not an HTTP/1.1 request') };
}
