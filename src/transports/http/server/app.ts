import type { IncomingMessage, RequestListener } from 'node:http';
import express, { type Express, type Request, type RequestHandler } from 'express';
import { OracleError } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import type { StartupProgress } from '../../../platform/startup/startup-progress.ts';
import type { ProtocolAdapter } from '../../adapter.ts';
import { ADMIN_PATH, createAdminArea } from '../admin/admin-area.ts';
import { iconRoute } from '../agent/card/file-routes.ts';
import { startingRootRoutes } from '../page/root-routes.ts';
import { pageFileRoutes } from '../page/routes.ts';
import { startingRoutes } from '../service/health/routes.ts';
import type { AppOptions } from './app-options.ts';
import { mountAdapters } from './mount-adapters.ts';
import { type Guard, mountRoutes } from './mount-routes.ts';
import { buildNotFoundError } from './not-found.ts';
import { limitUrlLength } from './parsing/limit-url-length.ts';
import { createProblemHandler } from './problems/problem.ts';
import { createAnswerCache } from './replies/answer-cache.ts';
import { TierReplies } from './replies/tier-replies.ts';
import type { Route } from './route.ts';
import { getClientAddress } from './security/client-address.ts';
import { createConnectionGate } from './security/connection-gate.ts';
import { createAdmission, createGuard } from './security/guard.ts';
import { requestLog } from './security/request-log.ts';
import { compressPublicReplies, crossOrigin, securityHeaders } from './security/security-headers.ts';

interface StartingAppOptions extends Pick<AppOptions, 'log' | 'stopping'> {
  publicUrl: string;
  setup: Pick<StartupProgress, 'current'>;
}

/** The HTTP server with the protocol adapters beside its routes; every error is a problem document. */
export function createApp(routes: readonly Route[], options: AppOptions, adapters: readonly ProtocolAdapter[] = []): Express {
  return buildApp(
    routes,
    { adapters, fallbackError: buildNotFoundError, operatorArea: (guard) => createAdminArea(guard, options.adminPage) },
    options,
  );
}

/** The same server behind the answers that it may send again. */
export function createListener(routes: readonly Route[], options: AppOptions, adapters: readonly ProtocolAdapter[] = []): RequestListener {
  const app = createApp(routes, options, adapters);
  if (options.reusesAnswers !== true) return app;
  // Express gives requests their address in the same way, but only once it handles them.
  const getForwardedAddress = (request: IncomingMessage) => getClientAddress(Object.setPrototypeOf(request, app.request) as Request);
  return createAnswerCache({ ...options, getForwardedAddress }, app);
}

/** Answers WebSocket handshakes on one path and rejects them elsewhere. */
export function createHandshakeApp(endpoint: { path: string; handler: RequestHandler }, options: AppOptions): Express {
  return buildApp([], { handshakes: endpoint, fallbackError: buildNotFoundError }, options);
}

/** Serves liveness, startup progress and the page until the service is assembled. */
export function createStartingApp({ publicUrl, setup, ...options }: StartingAppOptions): Express {
  const starting = () => new OracleError('STEP_WAITING', 'The service is starting');
  const routes = [...startingRoutes(() => setup.current), ...startingRootRoutes(publicUrl), ...pageFileRoutes(), iconRoute()];
  return buildApp(routes, { fallbackError: starting }, { ...options, identify: () => Promise.reject(starting()) });
}

interface AppExtras {
  adapters?: readonly ProtocolAdapter[];
  handshakes?: { path: string; handler: RequestHandler };
  operatorArea?(guard: Guard): RequestHandler[];
  fallbackError(path: string): OracleError;
}

function buildApp(
  routes: readonly Route[],
  { adapters = [], handshakes, operatorArea, fallbackError }: AppExtras,
  options: AppOptions,
): Express {
  const app = express();
  const guard = createGuard(options);
  app.disable('x-powered-by');
  app.set('query parser', 'simple');
  app.set('trust proxy', options.trustProxy ?? 0);
  app.use(requestLog(options), warnOfUntrustedProxy(options.log, options.trustProxy), securityHeaders(), crossOrigin());
  app.use(createConnectionGate(options), rejectWhenStopping(options.stopping), limitUrlLength(), compressPublicReplies());
  mountAdapters(app, adapters, { admit: createAdmission(options), log: options.log });
  mountRoutes(app, routes, guard, options.reusesAnswers === true ? new TierReplies() : null);
  if (handshakes !== undefined) app.route(handshakes.path).all(handshakes.handler);
  if (operatorArea !== undefined) app.use(ADMIN_PATH, operatorArea(guard));
  app.use(async (request, response) => {
    await guard({ access: 'public', cost: 'normal' }, request, response, () => Promise.reject(fallbackError(request.path)));
  });
  app.use(createProblemHandler(options.log));
  return app;
}

/** Behind an untrusted proxy all clients share one address and its rate limit: warns the operator once. */
function warnOfUntrustedProxy(log: Log, trustProxy: AppOptions['trustProxy'] = 0): RequestHandler {
  let hasWarned = trustProxy !== 0;
  return (request, _response, next) => {
    if (!hasWarned && request.get('X-Forwarded-For') !== undefined) {
      hasWarned = true;
      log.warn('X-Forwarded-For is present but not trusted: behind a proxy, set TRUST_PROXY');
    }
    next();
  };
}

function rejectWhenStopping(stopping?: AbortSignal): RequestHandler {
  return (_request, _response, next) => {
    if (!stopping?.aborted) return next();
    throw new OracleError('SHUTTING_DOWN', 'The service is stopping', { retryAfterSeconds: 5 });
  };
}
