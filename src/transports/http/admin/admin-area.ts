import type { RequestHandler } from 'express';
import type { Guard } from '../server/mount-routes.ts';
import { buildNotFoundError } from '../server/not-found.ts';

/** Where the operator's own begins. */
export const ADMIN_PATH = '/admin';

/**
 * What lies below `/admin` beside the operations: whoever is not the operator learns nothing of it, and what is not there is not
 * there. No other page may show or load any of it.
 */
export function createAdminArea(guard: Guard, page: RequestHandler | undefined): RequestHandler[] {
  const admit: RequestHandler = async (request, response, next) => {
    await guard({ access: 'admin', cost: 'normal' }, request, response);
    response.vary('Authorization');
    next();
  };
  const nothing: RequestHandler = () => {
    throw buildNotFoundError();
  };
  return page === undefined ? [admit, nothing] : [admit, page, nothing];
}
