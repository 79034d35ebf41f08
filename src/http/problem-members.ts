import type { Response } from 'express';

const known = new WeakMap<Response, Record<string, unknown>>();

/** Keeps what a problem document of this response says besides its own members. */
export function keepProblemMembers(response: Response, members: Record<string, unknown>): void {
  known.set(response, members);
}

/** What `keepProblemMembers` has kept for this response. */
export function getProblemMembers(response: Response): Record<string, unknown> {
  return known.get(response) ?? {};
}
