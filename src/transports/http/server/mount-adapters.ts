import type { Express, RequestHandler } from 'express';
import { toClientError } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import type { ProtocolAdapter } from '../../adapter.ts';
import { createBodyReader } from './parsing/read-body.ts';
import { createProblemHandler, type ProblemSerializer } from './problems/problem.ts';
import type { Admit } from './security/guard.ts';

/** Mounts protocol adapters before the routes, so that an adapter may share a path with a route. */
export function mountAdapters(app: Express, adapters: readonly ProtocolAdapter[], { admit, log }: { admit: Admit; log: Log }): void {
  for (const adapter of adapters) {
    const handler = createAdapterHandler(adapter, admit);
    const errors = createProblemHandler(log, createErrorSerializer(adapter));
    for (const { path, below, methods } of adapter.mounts) {
      if (below === true) app.use(path, handler, errors);
      else if (methods === undefined) app.route(path).all(handler, errors);
      else for (const method of methods) app[method](path, handler, errors);
    }
  }
}

function createAdapterHandler(adapter: ProtocolAdapter, admit: Admit): RequestHandler {
  const readBody = createBodyReader({ types: adapter.bodyTypes, limitBytes: adapter.bodyLimitBytes });
  return async (request, response) => {
    response.vary('Authorization');
    adapter.inspectRequest?.(request);
    const carriesPayment = async () => {
      if (adapter.carriesPayment === undefined) return false;
      await readBody(request, response);
      return adapter.carriesPayment(request.body);
    };
    await admit(request, response, { carriesPayment, identify: adapter.identify }, async (context) => {
      // Does nothing where the body is read already.
      await readBody(request, response, context);
      await adapter.handle(request, response, context);
    });
  };
}

function createErrorSerializer(adapter: ProtocolAdapter): ProblemSerializer {
  return ({ status, requestId }, response, error) =>
    adapter.serializeError({ ...toClientError(error), status, ...(typeof requestId === 'string' ? { requestId } : {}) }, response);
}
