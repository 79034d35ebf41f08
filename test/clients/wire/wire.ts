import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request and its whole response, as they went over the wire. */
export interface Exchange {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  status: number;
  responseHeaders: Record<string, string>;
  responseBody: string;
}

export type WireRequest = Pick<Exchange, 'method' | 'path' | 'headers' | 'body'>;

/** Changes a response before the client sees it. */
export type ResponseEdit = (exchange: Exchange) => Exchange;

/** A recording proxy between clients and the service: outcomes are provoked and observed without touching a client's code. */
export interface Wire {
  /** Where clients reach the service. */
  url: string;
  /** Names the service, once it runs. */
  connect(serviceUrl: string): void;
  /** Everything that goes over the wire while `work` runs. */
  record(work: () => Promise<unknown>, edit?: ResponseEdit): Promise<{ exchanges: Exchange[]; error: unknown }>;
  send(request: WireRequest): Promise<Exchange>;
  close(): Promise<void>;
}

const HOP_BY_HOP = new Set(['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding', 'accept-encoding']);

export async function openWire(): Promise<Wire> {
  let target = '';
  let exchanges: Exchange[] = [];
  let edit: ResponseEdit | undefined;
  const forward = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = (await buffer(incoming)).toString();
    const request = { method: incoming.method!, path: incoming.url!, headers: toTexts(incoming.headers), body };
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const whole = await exchange(target, request, gone.signal);
    exchanges.push(whole);
    const shown = edit === undefined ? whole : edit(whole);
    response.writeHead(shown.status, toTexts(shown.responseHeaders)).end(shown.responseBody);
  };
  // A client that leaves an open stream behind ends its exchange, which is then no answer.
  const server = createServer((incoming, response) => void forward(incoming, response).catch(() => response.destroy()));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connect(serviceUrl) {
      target = serviceUrl;
    },
    async record(work, change) {
      exchanges = [];
      edit = change;
      const error = await work().then(
        () => null,
        (reason: unknown) => reason ?? new Error('rejected without a reason'),
      );
      edit = undefined;
      return { exchanges, error };
    },
    send: (request) => exchange(target, request),
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function exchange(target: string, request: WireRequest, signal?: AbortSignal): Promise<Exchange> {
  const { method, path, headers, body } = request;
  return new Promise((resolve, reject) => {
    const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const outgoing = sendRequest(`${target}${path}`, { method, headers: { ...toTexts(headers), ...length }, signal });
    outgoing.once('error', reject);
    outgoing.once('response', async (response) => {
      try {
        const responseBody = (await buffer(response)).toString();
        resolve({ ...request, status: response.statusCode!, responseHeaders: toTexts(response.headers), responseBody });
      } catch (error) {
        reject(error);
      }
    });
    outgoing.end(body);
  });
}

function toTexts(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !HOP_BY_HOP.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}
