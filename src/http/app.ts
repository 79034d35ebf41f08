import express, { type Express } from 'express';
import { OracleError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Caller } from '../record/caller.ts';
import { mount } from './mount.ts';
import { problemHandler, sendProblem } from './problem.ts';
import type { Route } from './route.ts';
import { startingRoutes } from './routes/health.ts';
import { createGuard } from './security/guard.ts';

/** What stands between a socket and the routes. */
export interface AppOptions {
  log: Log;
  /** Who asks, by the `Authorization` header of a request; anybody without one. @throws OracleError UNAUTHENTICATED */
  identify(authorization: string | undefined): Promise<Caller>;
}

/** Largest body that is read: the largest one that any operation needs is a few kilobytes. */
const BODY_LIMIT = '64kb';

/** The HTTP door: every error a problem document. */
export function createApp(routes: readonly Route[], options: AppOptions): Express {
  const notFound = () => new OracleError('NOT_FOUND', 'Nothing is served at this path', { suggestedAction: 'GET / lists what is served.' });
  return appWith(routes, notFound, options);
}

/** What is served until the parts are there: alive, not ready. */
export function createStartingApp(log: Log): Express {
  const starting = () => new OracleError('STEP_WAITING', 'The service is starting');
  return appWith(startingRoutes(), starting, { log, identify: () => Promise.reject(starting()) });
}

function appWith(routes: readonly Route[], otherwise: () => OracleError, options: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('query parser', 'simple');
  app.use(express.json({ limit: BODY_LIMIT, strict: true }));
  mount(app, routes, createGuard(options));
  app.use((_request, response) => sendProblem(response, otherwise()));
  app.use(problemHandler(options.log));
  return app;
}
