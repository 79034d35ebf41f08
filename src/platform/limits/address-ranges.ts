/** A /64 in the form of `toAddressKey`: four hex groups without leading zeros. */
const SUBNET_KEY = /^((?:[\da-f]{1,4}:){3})([\da-f]{1,4})::\/64$/;
const IPV4_KEY = /^(\d{1,3}\.\d{1,3}\.\d{1,3}\.)\d{1,3}$/;

/** Narrowest first: the key itself, then for IPv6 its /56 and /48, the allocations of one subscriber or site (RFC 6177). */
export function addressRanges(addressKey: string): readonly string[] {
  const [, site, subnet] = SUBNET_KEY.exec(addressKey) ?? [];
  if (site === undefined || subnet === undefined) return [addressKey];
  const home = (Number.parseInt(subnet, 16) & 0xff00).toString(16);
  return [addressKey, `${site}${home}::/56`, `${site}:/48`];
}

/** `address`: an IPv4 address or a /64. */
export type RangeScope = 'address' | '/24' | '/56' | '/48';

/** The ranges that share a budget, narrowest first. For IPv4 the address and its /24, the least that is routed on its own. */
export function listBudgetRanges(addressKey: string): { scope: RangeScope; range: string }[] {
  const [address, home, site] = addressRanges(addressKey) as [string, string?, string?];
  const own = { scope: 'address', range: address } as const;
  if (home !== undefined && site !== undefined) return [own, { scope: '/56', range: home }, { scope: '/48', range: site }];
  const [, network] = IPV4_KEY.exec(addressKey) ?? [];
  return network === undefined ? [own] : [own, { scope: '/24', range: `${network}0/24` }];
}
