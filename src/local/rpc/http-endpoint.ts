import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerRpc, parseRpcBody, rpcError } from './answer.ts';
import type { NodeSocket } from './node-socket.ts';
import { MAX_BODY_BYTES, type RequestRejection, rejectHttp } from './request-check.ts';

export interface HttpCall {
  request: IncomingMessage;
  response: ServerResponse;
  node: NodeSocket;
  isAllowed(method: string): boolean;
}

/** Answers one POST of JSON-RPC; never rejects. */
export async function respondHttp({ request, response, node, isAllowed }: HttpCall): Promise<void> {
  const rejection = rejectHttp(request.method, request.headers, request.socket.localPort ?? 0);
  if (rejection !== null) return reject(response, rejection);
  const text = await readBody(request).catch(() => undefined);
  if (text === undefined) return reject(response, { status: 413, message: `A body has at most ${MAX_BODY_BYTES} bytes` });
  const parsed = parseRpcBody(text);
  const reply = 'error' in parsed ? parsed.error : await answerRpc(node, parsed.body, isAllowed);
  if (reply === undefined) response.writeHead(204).end();
  else send(response, 200, reply);
}

/** Ends the connection, so that nothing is read of the rest. */
function reject(response: ServerResponse, { status, message }: RequestRejection): void {
  response.setHeader('connection', 'close');
  send(response, status, rpcError(-32_600, message));
}

function send(response: ServerResponse, status: number, reply: unknown): void {
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
