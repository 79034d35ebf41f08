import { BlockList, isIP } from 'node:net';
import { OracleError } from '../errors.ts';

/**
 * Addresses that are no host on the public internet: the IANA special-purpose registries for IPv4 and IPv6, multicast, and
 * what carries an IPv4 address inside an IPv6 one, which would lead around the rules for IPv4. A few of them are reachable
 * (relays, AS112, PCP, TURN); no receiver of ours is there.
 */
const SPECIAL_PURPOSE: Readonly<Record<Family, Readonly<Record<string, string>>>> = {
  ipv4: {
    '0.0.0.0/8': 'this network',
    '10.0.0.0/8': 'private use',
    '100.64.0.0/10': 'shared address space of carriers',
    '127.0.0.0/8': 'loopback',
    '169.254.0.0/16': 'link-local',
    '172.16.0.0/12': 'private use',
    '192.0.0.0/24': 'IETF protocol assignments',
    '192.0.2.0/24': 'documentation',
    '192.31.196.0/24': 'AS112',
    '192.52.193.0/24': 'AMT',
    '192.88.99.0/24': '6to4 relay',
    '192.168.0.0/16': 'private use',
    '192.175.48.0/24': 'AS112',
    '198.18.0.0/15': 'benchmarking',
    '198.51.100.0/24': 'documentation',
    '203.0.113.0/24': 'documentation',
    '224.0.0.0/4': 'multicast',
    '240.0.0.0/4': 'reserved, and broadcast',
  },
  ipv6: {
    '::/96': 'unspecified, loopback and IPv4-compatible',
    '::ffff:0:0/96': 'IPv4-mapped',
    '::ffff:0:0:0/96': 'IPv4-translated',
    '64:ff9b::/96': 'NAT64',
    '64:ff9b:1::/48': 'local NAT64',
    '100::/64': 'discard only',
    '100:0:0:1::/64': 'dummy prefix',
    '2001::/23': 'IETF protocol assignments, Teredo among them',
    '2001:db8::/32': 'documentation',
    '2002::/16': '6to4',
    '2620:4f:8000::/48': 'AS112',
    '3fff::/20': 'documentation',
    '5f00::/16': 'segment routing',
    'fc00::/7': 'unique local',
    'fe80::/10': 'link-local',
    'fec0::/10': 'site-local',
    'ff00::/8': 'multicast',
  },
};

/** All that is given to hosts on the public internet, RFC 4291. */
const GLOBAL_UNICAST = '2000::/3';

type Family = 'ipv4' | 'ipv6';

// One list a family: a list of both takes an IPv4 address for its IPv4-mapped spelling.
const specialPurposeRanges = { ipv4: createBlockList('ipv4', SPECIAL_PURPOSE.ipv4), ipv6: createBlockList('ipv6', SPECIAL_PURPOSE.ipv6) };
const loopbackRanges = { ipv4: createBlockList('ipv4', { '127.0.0.0/8': '' }), ipv6: createBlockList('ipv6', { '::1/128': '' }) };
const globalUnicastRanges = createBlockList('ipv6', { [GLOBAL_UNICAST]: '' });

/** Whether an IP address is one that a host on the public internet can have; false for what is none, with a zone for example. */
export function isPublicAddress(ip: string): boolean {
  const family = getFamily(ip);
  if (family === null || specialPurposeRanges[family].check(ip, family)) return false;
  return family === 'ipv4' || globalUnicastRanges.check(ip, family);
}

/** Whether an IP address leads back to this machine. */
export function isLoopbackAddress(ip: string): boolean {
  const family = getFamily(ip);
  return family !== null && loopbackRanges[family].check(ip, family);
}

/** @throws OracleError INPUT_INVALID for an address that no host on the public internet can have; it names `url` and not the address. */
export function requirePublicAddress(ip: string): void {
  if (isPublicAddress(ip)) return;
  throw new OracleError('INPUT_INVALID', 'The URL leads to an address that is not on the public internet', {
    field: 'url',
    suggestedAction: 'Name a host whose every address is public.',
  });
}

function getFamily(ip: string): Family | null {
  const version = ip.includes('%') ? 0 : isIP(ip);
  return version === 0 ? null : version === 4 ? 'ipv4' : 'ipv6';
}

function createBlockList(family: Family, ranges: Readonly<Record<string, string>>): BlockList {
  const list = new BlockList();
  for (const range of Object.keys(ranges)) {
    const [network, bits] = range.split('/');
    list.addSubnet(network!, Number(bits), family);
  }
  return list;
}
