import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
import { OracleError } from '../errors.ts';

export interface OriginRules {
  /** Where callers reach the service. */
  publicUrl: string;
  /** Host names of further pages that may ask; an entry such as `moz-extension://*` is all extensions of a browser. */
  allowedOrigins: readonly string[];
  /** True where this machine's own names are the service's too. */
  loopback: boolean;
}

export interface RequestNames {
  host: string | undefined;
  origin: string | undefined;
}

/**
 * Refuses what a page of somebody else's sends, and what comes under a name that is not the service's: a name of somebody else's may
 * be made to lead here (DNS rebinding). What is no browser names no origin. The rules are those of the protocol's own middleware,
 * which answers by itself, and in its own words.
 */
export function createOriginCheck({ publicUrl, allowedOrigins, loopback }: OriginRules): (names: RequestNames) => void {
  const own = [new URL(publicUrl).hostname, ...(loopback ? localhostAllowedHostnames() : [])];
  const origins = [...own, ...allowedOrigins];
  return ({ host, origin }) => {
    if (!validateHostHeader(host, own).ok) throw refused('Host', 'This is not served under that host name', `Ask under ${publicUrl}.`);
    if (validateOriginHeader(origin, origins).ok) return;
    throw refused('Origin', 'Pages of that origin may not ask here', 'Ask from a program, or from a page that the operator allows.');
  };
}

function refused(field: string, message: string, suggestedAction: string): OracleError {
  return new OracleError('ORIGIN_REFUSED', message, { field, suggestedAction });
}
