import express, { type Express, type RequestHandler } from 'express';
import type { Door } from '../access/door.ts';
import type { RateLimits } from '../access/rate-limits.ts';
import { OracleError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Caller } from '../record/caller.ts';
import type { Setup } from '../setup.ts';
import { ADMIN_PATH, adminArea } from './admin/area.ts';
import { mountDoors } from './door.ts';
import { type Guard, mount } from './mount.ts';
import { problemHandler } from './problem.ts';
import type { Route } from './route.ts';
import { iconRoute } from './routes/agent-files.ts';
import { startingRoutes } from './routes/health.ts';
import { pageFileRoutes } from './routes/page.ts';
import { startingRootRoutes } from './routes/root.ts';
import type { ChainWork } from './security/chain-work.ts';
import { connectionGate } from './security/connection-gate.ts';
import { createAdmission, createGuard } from './security/guard.ts';
import { compressed, crossOrigin, securityHeaders } from './security/headers.ts';
import { proxyHint } from './security/proxy-hint.ts';
import { type RequestOrigin, requestLog } from './security/request-log.ts';
import { urlLength } from './security/url-length.ts';
import { nothingServed } from './unserved.ts';

/** What stands between a socket and the routes. */
export interface AppOptions {
  log: Log;
  /** Who asks, by the `Authorization` header of a request; anybody without one. @throws OracleError UNAUTHENTICATED */
  identify(authorization: string | undefined): Promise<Caller>;
  /** Lets the operator in, by the `Authorization` header; unset: nobody is, and no path of his is there. @throws OracleError UNAUTHENTICATED */
  admin?: (authorization: string | undefined, origin: RequestOrigin) => void | Promise<void>;
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
  setup: Pick<Setup, 'current'>;
}

/** The HTTP door, every error a problem document, with the doors of other protocols beside it. */
export function createApp(routes: readonly Route[], options: AppOptions, doors: readonly Door[] = []): Express {
  return appWith(routes, { doors, otherwise: nothingServed, operatorArea: (guard) => adminArea(guard, options.adminPage) }, options);
}

/** What the handshakes of WebSockets are answered by, at one path; elsewhere they are refused. */
export function createHandshakeApp(door: { path: string; handler: RequestHandler }, options: AppOptions): Express {
  return appWith([], { handshakes: door, otherwise: nothingServed }, options);
}

/** What is served until the parts are there: alive, not ready, and the page, which says so. */
export function createStartingApp({ publicUrl, setup, ...options }: StartingAppOptions): Express {
  const starting = () => new OracleError('STEP_WAITING', 'The service is starting');
  const routes = [...startingRoutes(() => setup.current), ...startingRootRoutes(publicUrl), ...pageFileRoutes(), iconRoute()];
  return appWith(routes, { otherwise: starting }, { ...options, identify: () => Promise.reject(starting()) });
}

/** What answers beside the routes, and where none does. */
interface Beside {
  doors?: readonly Door[];
  handshakes?: { path: string; handler: RequestHandler };
  operatorArea?(guard: Guard): RequestHandler[];
  otherwise(path: string): OracleError;
}

function appWith(routes: readonly Route[], { doors = [], handshakes, operatorArea, otherwise }: Beside, options: AppOptions): Express {
  const app = express();
  const guard = createGuard(options);
  app.disable('x-powered-by');
  app.set('query parser', 'simple');
  app.set('trust proxy', options.trustProxy ?? 0);
  app.use(requestLog(options.log), proxyHint(options.log, options.trustProxy), securityHeaders(), crossOrigin());
  app.use(connectionGate(options), refuseWhenStopping(options.stopping), urlLength(), compressed());
  mountDoors(app, doors, { admit: createAdmission(options), log: options.log });
  mount(app, routes, guard);
  if (handshakes !== undefined) app.all(handshakes.path, handshakes.handler);
  if (operatorArea !== undefined) app.use(ADMIN_PATH, operatorArea(guard));
  app.use(async (request, response) => {
    await guard({ access: 'public', cost: 'normal' }, request, response);
    throw otherwise(request.path);
  });
  app.use(problemHandler(options.log));
  return app;
}

function refuseWhenStopping(stopping?: AbortSignal): RequestHandler {
  return (_request, _response, next) => {
    if (!stopping?.aborted) return next();
    throw new OracleError('SHUTTING_DOWN', 'The service is stopping', { retryAfterSeconds: 5 });
  };
}
