import type { HttpDeps } from './deps.ts';
import { allRoutes } from './routes.ts';
import type { Route } from './server/route.ts';

/** Stands in for parts that nobody has made: a declaration hands them on to its handler, and only that uses them. */
const NO_DEPS: object = new Proxy({}, { get: (_, name) => (typeof name === 'string' ? NO_DEPS : undefined) });

/** Every operation as it is declared, for documents. The handlers must not be called. */
export function declaredRoutes(): Route[] {
  return allRoutes(NO_DEPS as HttpDeps);
}
