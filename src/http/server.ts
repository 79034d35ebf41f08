import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OracleError } from '../errors.ts';

const GRACE_MS = 3_000;

export interface HttpServer {
  /** The port that is listened on, also when a free one was asked for. */
  port: number;
  /** Hands all further requests to another app. */
  serve(app: RequestListener): void;
  /** Stops taking requests and waits for those under way. */
  close(): Promise<void>;
}

/**
 * Listens on an address.
 * @throws OracleError CONFIG_INVALID naming PORT or HOST when the address cannot be used.
 */
export async function listen(app: RequestListener, port: number, host: string): Promise<HttpServer> {
  let current = app;
  const server = createServer((request, response) => current(request, response));
  await started(server, port, host);
  return {
    port: (server.address() as AddressInfo).port,
    serve: (next) => {
      current = next;
    },
    close: () => closed(server),
  };
}

function started(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const field = error.code === 'EADDRINUSE' || error.code === 'EACCES' ? 'PORT' : 'HOST';
      const suggestedAction =
        field === 'PORT' ? 'Set PORT to one that is free, e.g. PORT=3001 npm start' : 'Set HOST to an address of this machine.';
      reject(
        new OracleError('CONFIG_INVALID', `Setting ${field}: cannot listen on ${host}:${port} (${error.code})`, {
          field,
          suggestedAction,
          cause: error,
        }),
      );
    });
    server.listen(port, host, resolve);
  });
}

/** Requests under way get a moment; a client that never finishes its own does not hold up the end. */
async function closed(server: Server): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearTimeout(timer);
}
