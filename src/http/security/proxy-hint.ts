import type { RequestHandler } from 'express';
import type { Log } from '../../log.ts';

/** Behind a proxy that is not trusted all callers are one address with one limit: the operator is told once. */
export function proxyHint(log: Log, trustProxy: number | readonly string[] = 0): RequestHandler {
  let told = trustProxy !== 0;
  return (request, _response, next) => {
    if (!told && request.get('X-Forwarded-For') !== undefined) {
      told = true;
      log.warn('X-Forwarded-For is sent and not believed: if a proxy stands in front of the service, set TRUST_PROXY');
    }
    next();
  };
}
