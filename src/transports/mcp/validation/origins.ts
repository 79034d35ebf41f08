import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
import { OracleError } from '../../../platform/errors.ts';

export interface RequestSource {
  host: string | undefined;
  origin: string | undefined;
}

export interface OriginRules {
  publicUrl: string;
  /** Host names of further allowed pages; `moz-extension://*` allows all extensions of a browser. */
  allowedOrigins: readonly string[];
  /** Whether the loopback names of this machine are names of the service. */
  allowLoopback: boolean;
}

/** `Host` against DNS rebinding, `Origin` against foreign pages, as the SDK's middleware does. @throws OracleError ORIGIN_REFUSED */
export function createOriginCheck({ publicUrl, allowedOrigins, allowLoopback }: OriginRules): (source: RequestSource) => void {
  const hosts = [new URL(publicUrl).hostname, ...(allowLoopback ? localhostAllowedHostnames() : [])];
  const origins = [...hosts, ...allowedOrigins];
  return ({ host, origin }) => {
    if (!validateHostHeader(host, hosts).ok) throw rejectedOrigin('Host', 'Unknown host name', `Send the request to ${publicUrl}.`);
    if (!validateOriginHeader(origin, origins).ok)
      throw rejectedOrigin(
        'Origin',
        'Requests from that origin are not allowed',
        'Call from a program, or from a page that the operator allows.',
      );
  };
}

function rejectedOrigin(field: string, message: string, suggestedAction: string): OracleError {
  return new OracleError('ORIGIN_REFUSED', message, { field, suggestedAction });
}
