import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerRpc, buildRpcError, parseRpcBody } from './answer.ts';
import type { NodeSocket } from './node-socket.ts';
import { findHttpRejection, MAX_BODY_BYTES, type RequestRejection } from './request-check.ts';

export interface HttpCall {
  request: IncomingMessage;
  response: ServerResponse;
  node: NodeSocket;
  isAllowed(method: string): boolean;
}

/** Handles one JSON-RPC POST. Never rejects. */
export async function respondHttp({ request, response, node, isAllowed }: HttpCall): Promise<void> {
  const rejection = findHttpRejection(request.method, request.headers, request.socket.localPort ?? 0);
  if (rejection !== null) return sendRejection(response, rejection);
  const text = await readBody(request).catch(() => undefined);
  if (text === undefined) return sendRejection(response, { status: 413, message: `A body has at most ${MAX_BODY_BYTES} bytes` });
  const parsed = parseRpcBody(text);
  const reply = 'error' in parsed ? parsed.error : await answerRpc(node, parsed.body, isAllowed);
  if (reply === undefined) response.writeHead(204).end();
  else sendJson(response, 200, reply);
}

/** Closes the connection, so that the rest of the body is not read. */
function sendRejection(response: ServerResponse, { status, message }: RequestRejection): void {
  response.setHeader('connection', 'close');
  sendJson(response, status, buildRpcError(-32_600, message));
}

function sendJson(response: ServerResponse, status: number, reply: unknown): void {
  const text = JSON.stringify(reply);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error('the body is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
