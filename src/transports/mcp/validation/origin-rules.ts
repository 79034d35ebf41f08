import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
import { OracleError } from '../../../platform/errors.ts';

export interface OriginRules {
  /** Where callers reach the service. */
  publicUrl: string;
  /** Host names of further pages that may ask; an entry such as `moz-extension://*` is all extensions of a browser. */
  allowedOrigins: readonly string[];
  /** True where this machine's own names are the service's too. */
  allowLoopback: boolean;
}

/**
 * Refuses what a page of somebody else's sends; what is no browser names no origin. The rule is that of MCP's own middleware.
 * @throws by what it makes: OracleError ORIGIN_REFUSED
 */
export function createPageOriginCheck(rules: OriginRules): (origin: string | undefined) => void {
  const origins = [...listOwnHostNames(rules), ...rules.allowedOrigins];
  return (origin) => {
    if (validateOriginHeader(origin, origins).ok) return;
    throw rejectedPageError();
  };
}

/**
 * Refuses what comes under a name that is not the service's: a name of somebody else's may be made to lead here (DNS rebinding).
 * @throws by what it makes: OracleError ORIGIN_REFUSED
 */
export function createHostCheck(rules: Pick<OriginRules, 'publicUrl' | 'allowLoopback'>): (host: string | undefined) => void {
  const own = listOwnHostNames(rules);
  return (host) => {
    if (validateHostHeader(host, own).ok) return;
    throw rejectedOriginError('Host', 'This is not served under that host name', `Ask under ${rules.publicUrl}.`);
  };
}

function listOwnHostNames({ publicUrl, allowLoopback: loopback }: Pick<OriginRules, 'publicUrl' | 'allowLoopback'>): string[] {
  return [new URL(publicUrl).hostname, ...(loopback ? localhostAllowedHostnames() : [])];
}

function rejectedPageError(): OracleError {
  return rejectedOriginError(
    'Origin',
    'Pages of that origin may not ask here',
    'Ask from a program, or from a page that the operator allows.',
  );
}

function rejectedOriginError(field: string, message: string, suggestedAction: string): OracleError {
  return new OracleError('ORIGIN_REFUSED', message, { field, suggestedAction });
}
