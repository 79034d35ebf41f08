import express, { type Express, type RequestHandler } from 'express';
import type { Caller } from '../../../auth/caller.ts';
import type { RateLimits } from '../../../auth/rate-limit/rate-limits.ts';
import { OracleError } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import type { StartupProgress } from '../../../platform/startup-progress.ts';
import type { ProtocolAdapter } from '../../adapter.ts';
import { ADMIN_PATH, createAdminArea } from '../admin/admin-area.ts';
import { iconRoute } from '../agent/card/file-routes.ts';
import { startingRootRoutes } from '../page/root-routes.ts';
import { pageFileRoutes } from '../page/routes.ts';
import { startingRoutes } from '../service/health/routes.ts';
import { mountAdapters } from './mount-adapters.ts';
import { type Guard, mountRoutes } from './mount-routes.ts';
import { buildNotFoundError } from './not-found.ts';
import { limitUrlLength } from './parsing/limit-url-length.ts';
import { createProblemHandler } from './problems/problem.ts';
import type { Route } from './route.ts';
import type { ChainWork } from './security/chain-work.ts';
import { createConnectionGate } from './security/connection-gate.ts';
import { createAdmission, createGuard } from './security/guard.ts';
import { warnOfUntrustedProxy } from './security/proxy-hint.ts';
import { type RequestSource, requestLog } from './security/request-log.ts';
import { compressPublicReplies, crossOrigin, securityHeaders } from './security/security-headers.ts';

/** What stands between a socket and the routes. */
export interface AppOptions {
  log: Log;
  /** Who asks, by the `Authorization` header of a request; anybody without one. @throws OracleError UNAUTHENTICATED */
  identify(authorization: string | undefined): Promise<Caller>;
  /** Lets the operator in, by the `Authorization` header; unset: nobody is, and no path of his is there. @throws OracleError UNAUTHENTICATED */
  admin?: (authorization: string | undefined, origin: RequestSource) => void | Promise<void>;
  /** What the operator sees below `/admin` beside the operations. Unset: nothing. */
  adminPage?: RequestHandler;
  /** Unset: nobody is counted. */
  limits?: RateLimits;
  /** What requests that ask the chain are bounded by. Unset: nothing. */
  chainWork?: ChainWork;
  /** Proxies whose `X-Forwarded-For` is believed: how many stand in front, or their addresses and ranges. Unset: none. */
  trustProxy?: number | readonly string[];
  /** Aborted when the service stops: requests that come then are refused. */
  stopping?: AbortSignal;
}

/** What there is before the parts are. */
interface StartingAppOptions extends Pick<AppOptions, 'log' | 'stopping'> {
  publicUrl: string;
  setup: Pick<StartupProgress, 'current'>;
}

/** The HTTP door, every error a problem document, with the doors of other protocols beside it. */
export function createApp(routes: readonly Route[], options: AppOptions, adapters: readonly ProtocolAdapter[] = []): Express {
  return buildApp(
    routes,
    { adapters, fallbackError: buildNotFoundError, operatorArea: (guard) => createAdminArea(guard, options.adminPage) },
    options,
  );
}

/** What the handshakes of WebSockets are answered by, at one path; elsewhere they are refused. */
export function createHandshakeApp(endpoint: { path: string; handler: RequestHandler }, options: AppOptions): Express {
  return buildApp([], { handshakes: endpoint, fallbackError: buildNotFoundError }, options);
}

/** What is served until the parts are there: alive, not ready, and the page, which says so. */
export function createStartingApp({ publicUrl, setup, ...options }: StartingAppOptions): Express {
  const starting = () => new OracleError('STEP_WAITING', 'The service is starting');
  const routes = [...startingRoutes(() => setup.current), ...startingRootRoutes(publicUrl), ...pageFileRoutes(), iconRoute()];
  return buildApp(routes, { fallbackError: starting }, { ...options, identify: () => Promise.reject(starting()) });
}

/** What answers beside the routes, and where none does. */
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
  app.use(requestLog(options.log), warnOfUntrustedProxy(options.log, options.trustProxy), securityHeaders(), crossOrigin());
  app.use(createConnectionGate(options), rejectWhenStopping(options.stopping), limitUrlLength(), compressPublicReplies());
  mountAdapters(app, adapters, { admit: createAdmission(options), log: options.log });
  mountRoutes(app, routes, guard);
  if (handshakes !== undefined) app.all(handshakes.path, handshakes.handler);
  if (operatorArea !== undefined) app.use(ADMIN_PATH, operatorArea(guard));
  app.use(async (request, response) => {
    await guard({ access: 'public', cost: 'normal' }, request, response);
    throw fallbackError(request.path);
  });
  app.use(createProblemHandler(options.log));
  return app;
}

function rejectWhenStopping(stopping?: AbortSignal): RequestHandler {
  return (_request, _response, next) => {
    if (!stopping?.aborted) return next();
    throw new OracleError('SHUTTING_DOWN', 'The service is stopping', { retryAfterSeconds: 5 });
  };
}
