import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OracleError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from './metrics.ts';

export interface MetricsServer {
  port: number;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 16;

/** `GET /metrics` on a port of its own, for scrapers of the operator's network. @throws OracleError CONFIG_INVALID naming METRICS_PORT */
export async function serveMetrics(
  { render, contentType }: Pick<Metrics, 'render' | 'contentType'>,
  { port, host, log }: { port: number; host: string; log: Log },
): Promise<MetricsServer> {
  const server = createServer(async ({ method, url }, response) => {
    if (url !== '/metrics' || (method !== 'GET' && method !== 'HEAD')) {
      response.writeHead(404).end();
      return;
    }
    try {
      const text = await render();
      response.writeHead(200, { 'Content-Type': contentType }).end(method === 'HEAD' ? undefined : text);
    } catch (error) {
      log.error({ err: error }, 'the metrics could not be read');
      response.writeHead(503).end();
    }
  });
  server.maxConnections = MAX_CONNECTIONS;
  await bind(server, port, host);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function bind(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const options = { field: 'METRICS_PORT', suggestedAction: 'Set METRICS_PORT to a free port of this machine.', cause };
      reject(new OracleError('CONFIG_INVALID', `Setting METRICS_PORT: ${host}:${port} cannot be bound`, options));
    });
    server.listen(port, host, () => resolve());
  });
}
