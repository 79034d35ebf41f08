import type { Express } from 'express';
import type { Asker } from '../../src/access/asker.ts';
import { createApp } from '../../src/http/app.ts';
import type { Reply, Route } from '../../src/http/route.ts';
import { allRoutes } from '../../src/http/routes/all.ts';
import { listen } from '../../src/http/server.ts';
import { type Caller, PUBLIC_CALLER } from '../../src/record/caller.ts';
import type { TestService } from './service.ts';

export interface Served {
  url: string;
  close(): Promise<void>;
}

/** All routes and doors of a service, or the routes given, on a free port. */
export function serve(
  { http, door, doors }: Pick<TestService, 'http' | 'door'> & Partial<Pick<TestService, 'doors'>>,
  routes: readonly Route[] = allRoutes(http),
): Promise<Served> {
  return serveApp(createApp(routes, door, doors));
}

export async function serveApp(app: Express): Promise<Served> {
  const server = await listen(app, 0, '127.0.0.1');
  return { url: `http://127.0.0.1:${server.port}`, close: () => server.close() };
}

/** Who asks without a socket, and is not counted. */
export function askerOf(caller: Caller): Asker {
  return { caller, ...NOBODY, countCall: async () => undefined, countChainCall: async () => undefined };
}

const NOBODY = { requestId: 'none', address: 'unknown' };

interface Input {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: Record<string, unknown>;
  caller?: Caller;
  accept?: string;
  headers?: Record<string, string>;
}

/** What a route answers to parsed input, without a socket. */
export async function call(
  route: Route,
  { params = {}, query = {}, body = {}, caller = PUBLIC_CALLER, accept = '', headers = {} }: Input = {},
) {
  const input = {
    params,
    query,
    body,
    caller,
    asker: askerOf(caller),
    accept,
    origin: NOBODY,
    header: (name: string) => headers[name],
    isHead: false,
  };
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  return (await route.handle(input)) as Reply<any> & { body: any };
}
