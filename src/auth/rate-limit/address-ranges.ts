/** A /64 as `addressKey` of the HTTP server writes it: four groups in hex without leading zeros. */
const SUBNET_KEY = /^((?:[\da-f]{1,4}:){3})([\da-f]{1,4})::\/64$/;

/**
 * The ranges that a budget counts an address key in, narrowest first: the key itself, then for IPv6 the /56 and the /48 around it,
 * which is what one subscriber or site is given (RFC 6177). An IPv4 address, or any other text, is its own only range.
 */
export function addressRanges(addressKey: string): readonly string[] {
  const [, site, subnet] = SUBNET_KEY.exec(addressKey) ?? [];
  if (site === undefined || subnet === undefined) return [addressKey];
  const home = (Number.parseInt(subnet, 16) & 0xff00).toString(16);
  return [addressKey, `${site}${home}::/56`, `${site}:/48`];
}
