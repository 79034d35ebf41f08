import type { Express } from 'express';
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

/** All routes of a service, or those given, behind its real door on a free port. */
export function serve({ http, door }: Pick<TestService, 'http' | 'door'>, routes: readonly Route[] = allRoutes(http)): Promise<Served> {
  return serveApp(createApp(routes, door));
}

export async function serveApp(app: Express): Promise<Served> {
  const server = await listen(app, 0, '127.0.0.1');
  return { url: `http://127.0.0.1:${server.port}`, close: () => server.close() };
}

const NOBODY = { requestId: 'none', address: 'unknown' };

interface Input {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: Record<string, unknown>;
  caller?: Caller;
  accept?: string;
}

/** What a route answers to parsed input, without a socket. */
export async function call(route: Route, { params = {}, query = {}, body = {}, caller = PUBLIC_CALLER, accept = '' }: Input = {}) {
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  return (await route.handle({ params, query, body, caller, accept, origin: NOBODY })) as Reply<any> & { body: any };
}
