import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface Question {
  method?: string;
  headers?: Record<string, string>;
  /** Sent as it is. */
  body?: string | Buffer;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** With a content coding a character for each byte. */
  text: string;
}

export type Ask = (path: string, question?: Question) => Promise<HttpAnswer>;

/** A client that changes nothing about a path, a body or a header, as `fetch` does; it keeps its connections. */
export function openAsk(url: string): { ask: Ask; close(): void } {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const ask: Ask = (path, { method = 'GET', headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
      const sent = request({ hostname, port, agent, method, path, headers: { ...length, ...headers } }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        const encoding = response.headers['content-encoding'] === undefined ? 'utf8' : 'latin1';
        response.once('end', () =>
          resolve({ status: response.statusCode!, headers: response.headers, text: Buffer.concat(chunks).toString(encoding) }),
        );
      });
      sent.once('error', reject);
      sent.end(body);
    });
  return { ask, close: () => agent.destroy() };
}

/** What a caller sends as JSON. */
export function json(body: unknown): Pick<Question, 'headers' | 'body'> {
  return { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}
