import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
import { OracleError } from './errors.ts';

export interface OriginRules {
  /** Where callers reach the service. */
  publicUrl: string;
  /** Host names of further pages that may ask; an entry such as `moz-extension://*` is all extensions of a browser. */
  allowedOrigins: readonly string[];
  /** True where this machine's own names are the service's too. */
  loopback: boolean;
}

/**
 * Refuses what a page of somebody else's sends; what is no browser names no origin. The rule is that of MCP's own middleware.
 * @throws by what it makes: OracleError ORIGIN_REFUSED
 */
export function pageCheck(rules: OriginRules): (origin: string | undefined) => void {
  const origins = [...ownNames(rules), ...rules.allowedOrigins];
  return (origin) => {
    if (validateOriginHeader(origin, origins).ok) return;
    throw pageRefused();
  };
}

/**
 * Refuses what comes under a name that is not the service's: a name of somebody else's may be made to lead here (DNS rebinding).
 * @throws by what it makes: OracleError ORIGIN_REFUSED
 */
export function hostCheck(rules: Pick<OriginRules, 'publicUrl' | 'loopback'>): (host: string | undefined) => void {
  const own = ownNames(rules);
  return (host) => {
    if (validateHostHeader(host, own).ok) return;
    throw refused('Host', 'This is not served under that host name', `Ask under ${rules.publicUrl}.`);
  };
}

function ownNames({ publicUrl, loopback }: Pick<OriginRules, 'publicUrl' | 'loopback'>): string[] {
  return [new URL(publicUrl).hostname, ...(loopback ? localhostAllowedHostnames() : [])];
}

function pageRefused(): OracleError {
  return refused('Origin', 'Pages of that origin may not ask here', 'Ask from a program, or from a page that the operator allows.');
}

function refused(field: string, message: string, suggestedAction: string): OracleError {
  return new OracleError('ORIGIN_REFUSED', message, { field, suggestedAction });
}
