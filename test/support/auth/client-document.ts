import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { selfSigned } from '../webhooks/certificate.ts';
import { listening } from '../webhooks/receiver.ts';

export interface DocumentServer {
  /** Without a slash at the end. */
  url: string;
  /** Paths that were requested, in order. */
  requested: readonly string[];
  close(): Promise<void>;
}

/** Serves client metadata documents over HTTPS on this machine, with a certificate that this process trusts until it is closed. */
export async function serveDocuments(
  answer: (path: string, url: string) => { status?: number; body: string; location?: string },
): Promise<DocumentServer> {
  const before = getCACertificates();
  const { cert, key } = selfSigned(['127.0.0.1']);
  setDefaultCACertificates([...before, cert]);
  const requested: string[] = [];
  let url = '';
  const listener: RequestListener = (request, response) => {
    requested.push(request.url!);
    const { status = 200, body, location } = answer(request.url!, `${url}${request.url}`);
    response.writeHead(status, { 'Content-Type': 'application/json', ...(location === undefined ? {} : { Location: location }) }).end(body);
  };
  const server = await listening(createServer({ cert, key }, listener));
  url = `https://127.0.0.1:${server.port}`;
  const close = async () => {
    setDefaultCACertificates(before);
    await server.close();
  };
  return { url, requested, close };
}
