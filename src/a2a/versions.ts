import type { Request } from 'express';
import { A2A_LEGACY_VERSION, A2A_VERSION } from '../../agent-card/protocols.ts';

/** What is spoken over either binding. */
const VERSIONS: readonly string[] = [A2A_VERSION, A2A_LEGACY_VERSION];

export function isSpoken(version: string): boolean {
  return VERSIONS.includes(version);
}

/** What a request says that it is of; an absent header means the older one. */
export function versionOf(request: Request): string {
  return request.get('A2A-Version') || A2A_LEGACY_VERSION;
}
