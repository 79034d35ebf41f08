import type { RequestHandler } from 'express';
import type { Guard } from '../server/mount-routes.ts';
import { buildNotFoundError } from '../server/not-found.ts';

export const ADMIN_PATH = '/admin';

/** Serves the admin page to the operator; other clients cannot probe which paths exist. */
export function createAdminArea(guard: Guard, page: RequestHandler | undefined): RequestHandler[] {
  const admit: RequestHandler = async (request, response, next) => {
    await guard({ access: 'admin', cost: 'normal' }, request, response, () => response.vary('Authorization'));
    next();
  };
  const rejectUnknownPath: RequestHandler = () => {
    throw buildNotFoundError();
  };
  return page === undefined ? [admit, rejectUnknownPath] : [admit, page, rejectUnknownPath];
}
