import type { Request } from 'express';
import { ENDPOINTS } from '../../../../agent-card/endpoints.ts';
import { A2A_LEGACY_VERSION, A2A_VERSION } from '../../../../agent-card/protocols.ts';

const SUPPORTED_VERSIONS: readonly string[] = [A2A_VERSION, A2A_LEGACY_VERSION];

export function isSupportedVersion(version: string): boolean {
  return SUPPORTED_VERSIONS.includes(version);
}

/** A missing or empty header means 0.3 (A2A 1.0, section 3.6). */
export function getRequestVersion(request: Request): string {
  return request.get('A2A-Version') || A2A_LEGACY_VERSION;
}

/** Base of the HTTP+JSON paths of 0.3 (section 3.5.3). */
export const LEGACY_REST_PATH = `${ENDPOINTS.a2aRest}/v1`;

/** The routers take any case. */
const LEGACY_PATHS = new RegExp(`^${LEGACY_REST_PATH}/`, 'i');

export function isLegacyRestRequest(request: Request): boolean {
  return getRequestVersion(request) === A2A_LEGACY_VERSION && LEGACY_PATHS.test(request.originalUrl);
}
