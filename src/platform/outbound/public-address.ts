import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { OracleError } from '../errors.ts';

/** Addresses of hosts on the public internet, RFC 4291. Excludes forms that embed an IPv4 address, which would evade its rules. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether a host on the public internet can have this IP address; false for text that is no address, or has a zone. */
export function isPublicAddress(ip: string): boolean {
  const address = parseAddress(ip);
  // Special-purpose ranges of the IANA registries, multicast and tunnels are no unicast.
  if (address?.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

export function isLoopbackAddress(ip: string): boolean {
  return parseAddress(ip)?.range() === 'loopback';
}

/** @throws OracleError INPUT_INVALID for an address outside the public internet; names `url` and not the address */
export function requirePublicAddress(ip: string): void {
  if (isPublicAddress(ip)) return;
  throw new OracleError('INPUT_INVALID', 'The URL leads to an address that is not on the public internet', {
    field: 'url',
    suggestedAction: 'Name a host whose every address is public.',
  });
}

function parseAddress(ip: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  return ip.includes('%') || isIP(ip) === 0 ? null : ipaddr.parse(ip);
}
