import type { HttpParts } from '../parts.ts';
import type { Route } from '../route.ts';
import { allRoutes } from './all.ts';

/** Stands in for parts that nobody has made: a declaration hands them on to its handler, and only that uses them. */
const NO_PARTS: object = new Proxy({}, { get: (_, name) => (typeof name === 'string' ? NO_PARTS : undefined) });

/** Every operation as it is declared, for documents. The handlers must not be called. */
export function declaredRoutes(): Route[] {
  return allRoutes(NO_PARTS as HttpParts);
}
