import type { Response } from 'express';

const membersByResponse = new WeakMap<Response, Record<string, unknown>>();

/** Keeps what a problem document of this response says besides its own members. */
export function setProblemMembers(response: Response, members: Record<string, unknown>): void {
  membersByResponse.set(response, members);
}

/** What `keepProblemMembers` has kept for this response. */
export function getProblemMembers(response: Response): Record<string, unknown> {
  return membersByResponse.get(response) ?? {};
}
