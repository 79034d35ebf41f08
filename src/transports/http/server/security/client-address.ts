import { isIPv4, isIPv6 } from 'node:net';
import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

/** IPv4 address, or IPv6 /64, which one subscriber owns. Behind trusted proxies the forwarded address where valid, else the proxy's. */
export function getClientAddress(request: Request): string {
  return (request.ip && toAddressKey(request.ip)) || toAddressKey(request.socket.remoteAddress ?? '') || 'unknown';
}

/** Key of an address in text form, with or without a port; null for any other text. */
export function toAddressKey(text: string): string | null {
  const ip = stripPort(text);
  if (isIPv4(ip)) return ip;
  if (!isIPv6(ip)) return null;
  const address = parseIp(ip) as ipaddr.IPv6;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().toString();
  const groups = address.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(':')}::/64`;
}

/** Parses an address without its zone, whose alphabet is wider in Node than in ipaddr.js. */
export function parseIp(ip: string): ipaddr.IPv4 | ipaddr.IPv6 {
  return ipaddr.parse(ip.replace(/%.*$/, ''));
}

function stripPort(text: string): string {
  return /^\[(.+)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text;
}
