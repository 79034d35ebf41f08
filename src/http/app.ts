import express, { type Express } from 'express';
import { OracleError } from '../errors.ts';
import type { Log } from '../log.ts';
import { problemHandler, sendProblem } from './problem.ts';
import { mount, type Route, route } from './route.ts';

/** The HTTP door: JSON in and out, every error a problem document. */
export function createApp(routes: Route[], log: Log): Express {
  const notFound = (path: string) =>
    new OracleError('NOT_FOUND', `Nothing is served at ${path}`, { suggestedAction: 'GET / lists what is served.' });
  return appWith(routes, notFound, log);
}

/** What is served until the parts are there: alive, not ready. */
export function createStartingApp(log: Log): Express {
  const starting = () => new OracleError('STEP_WAITING', 'The service is starting');
  return appWith(
    [route({ path: '/health', summary: 'The process is alive', handle: () => ({ body: { status: 'starting' } }) })],
    starting,
    log,
  );
}

function appWith(routes: Route[], otherwise: (path: string) => OracleError, log: Log): Express {
  const app = express();
  app.disable('x-powered-by');
  app.set('query parser', 'simple');
  mount(app, routes);
  app.use((request, response) => sendProblem(response, otherwise(request.path)));
  app.use(problemHandler(log));
  return app;
}
