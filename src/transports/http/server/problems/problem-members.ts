import type { Response } from 'express';

const membersByResponse = new WeakMap<Response, Record<string, unknown>>();

export function setProblemMembers(response: Response, members: Record<string, unknown>): void {
  membersByResponse.set(response, members);
}

export function getProblemMembers(response: Response): Record<string, unknown> {
  return membersByResponse.get(response) ?? {};
}
