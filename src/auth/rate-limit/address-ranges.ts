/** A /64 in the form of `toAddressKey`: four hex groups without leading zeros. */
const SUBNET_KEY = /^((?:[\da-f]{1,4}:){3})([\da-f]{1,4})::\/64$/;

/** Narrowest first: the key itself, then for IPv6 its /56 and /48, the allocations of one subscriber or site (RFC 6177). */
export function addressRanges(addressKey: string): readonly string[] {
  const [, site, subnet] = SUBNET_KEY.exec(addressKey) ?? [];
  if (site === undefined || subnet === undefined) return [addressKey];
  const home = (Number.parseInt(subnet, 16) & 0xff00).toString(16);
  return [addressKey, `${site}${home}::/56`, `${site}:/48`];
}
