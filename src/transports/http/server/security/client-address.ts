import { isIPv4, isIPv6 } from 'node:net';
import type { Request } from 'express';

/**
 * What limits by address count: an IPv4 address, or the /64 that an IPv6 address is in, since one subscriber has all of it.
 * Behind trusted proxies it is the address they name, as far as it is one, else that of the proxy.
 */
export function getClientAddress(request: Request): string {
  return (request.ip && toAddressKey(request.ip)) || toAddressKey(request.socket.remoteAddress ?? '') || 'unknown';
}

/** The key of an address as text, with a port where a proxy adds one; null for any other text. */
export function toAddressKey(text: string): string | null {
  const ip = stripPort(text);
  if (isIPv4(ip)) return ip;
  if (!isIPv6(ip)) return null;
  const groups = parseIpv6Groups(ip);
  return isIpv4Mapped(groups) ? toDottedAddress(groups[6], groups[7]) : `${groups.slice(0, 4).map(toHexGroup).join(':')}::/64`;
}

function stripPort(text: string): string {
  return /^\[(.+)\](?::\d{1,5})?$/.exec(text)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text;
}

/** The eight groups of an IPv6 address. */
export function parseIpv6Groups(ip: string): number[] {
  const [front = '', back] = ip.replace(/%.*$/, '').split('::');
  const before = parseGroups(front);
  const after = parseGroups(back ?? '');
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function parseGroups(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => (group.includes('.') ? parseDottedGroups(group) : [Number.parseInt(group, 16)]));
}

function parseDottedGroups(ip: string): [number, number] {
  const [a = 0, b = 0, c = 0, d = 0] = ip.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}

const isIpv4Mapped = (groups: number[]) => groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
const toHexGroup = (group: number) => group.toString(16);
const toDottedAddress = (high = 0, low = 0) => [high >> 8, high & 255, low >> 8, low & 255].join('.');
