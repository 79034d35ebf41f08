import type { RequestHandler } from 'express';
import type { Log } from '../../../../platform/log.ts';

/** Behind a proxy that is not trusted all callers are one address with one limit: the operator is told once. */
export function warnOfUntrustedProxy(log: Log, trustProxy: number | readonly string[] = 0): RequestHandler {
  let hasWarned = trustProxy !== 0;
  return (request, _response, next) => {
    if (!hasWarned && request.get('X-Forwarded-For') !== undefined) {
      hasWarned = true;
      log.warn('X-Forwarded-For is sent and not believed: if a proxy stands in front of the service, set TRUST_PROXY');
    }
    next();
  };
}
