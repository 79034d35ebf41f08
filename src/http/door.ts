import type { Express, RequestHandler } from 'express';
import type { Door } from '../access/door.ts';
import { toldError } from '../errors.ts';
import type { Log } from '../log.ts';
import { problemHandler, type TellProblem } from './problem.ts';
import { createBodyReader } from './security/body.ts';
import type { Admit } from './security/guard.ts';

export interface DoorOptions {
  admit: Admit;
  log: Log;
}

/** Mounts doors beside the routes; before these, so that a door may share a path with one of them. */
export function mountDoors(app: Express, doors: readonly Door[], { admit, log }: DoorOptions): void {
  for (const door of doors) {
    const handler = handlerOf(door, admit);
    const errors = problemHandler(log, inWordsOf(door));
    for (const { path, below, methods } of door.mounts) {
      if (below === true) app.use(path, handler, errors);
      else if (methods === undefined) app.all(path, handler, errors);
      else for (const method of methods) app[method](path, handler, errors);
    }
  }
}

function handlerOf(door: Door, admit: Admit): RequestHandler {
  const readBody = createBodyReader({ types: door.bodyTypes, limitBytes: door.bodyLimitBytes });
  return async (request, response) => {
    response.vary('Authorization');
    door.inspect?.(request);
    const asker = await admit(request, response);
    await readBody(request, response);
    await door.handle(request, response, asker);
  };
}

function inWordsOf(door: Door): TellProblem {
  return ({ status, requestId }, response, error) =>
    door.tell({ ...toldError(error), status, ...(typeof requestId === 'string' ? { requestId } : {}) }, response);
}
