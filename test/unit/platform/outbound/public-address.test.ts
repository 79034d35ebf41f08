import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLoopbackAddress, isPublicAddress, requirePublicAddress } from '../../../../src/platform/outbound/guarded.ts';

/** First and last address of what is refused, and whether the address before and the one after are public; null: there is none. */
const REFUSED_IPV4: [first: string, last: string, before: boolean | null, after: boolean | null][] = [
  ['0.0.0.0', '0.255.255.255', null, true],
  ['10.0.0.0', '10.255.255.255', true, true],
  ['100.64.0.0', '100.127.255.255', true, true],
  ['127.0.0.0', '127.255.255.255', true, true],
  ['169.254.0.0', '169.254.255.255', true, true],
  ['172.16.0.0', '172.31.255.255', true, true],
  ['192.0.0.0', '192.0.0.255', true, true],
  ['192.0.2.0', '192.0.2.255', true, true],
  ['192.31.196.0', '192.31.196.255', true, true],
  ['192.52.193.0', '192.52.193.255', true, true],
  ['192.88.99.0', '192.88.99.255', true, true],
  ['192.168.0.0', '192.168.255.255', true, true],
  ['192.175.48.0', '192.175.48.255', true, true],
  ['198.18.0.0', '198.19.255.255', true, true],
  ['198.51.100.0', '198.51.100.255', true, true],
  ['203.0.113.0', '203.0.113.255', true, true],
  ['224.0.0.0', '255.255.255.255', true, null],
];

/** The same in groups of 16 bits, missing ones of the first zero and of the last ffff. */
const REFUSED_IPV6: [first: string, last: string, before: boolean | null, after: boolean | null][] = [
  ['0', '1fff', null, true],
  ['2001', '2001:1ff', true, true],
  ['2001:db8', '2001:db8', true, true],
  ['2002', '2002', true, true],
  ['2620:4f:8000', '2620:4f:8000', true, true],
  ['3fff', '3fff:fff', true, true],
  ['4000', 'ffff', true, null],
];

/** What stands in those two wide ones, each named by a registry or an RFC. */
const NAMED_IPV6 = [
  '::',
  '::1',
  '::8.8.8.8',
  '::ffff:8.8.8.8',
  '::ffff:127.0.0.1',
  '::ffff:0:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::1',
  '100::1',
  '100:0:0:1::1',
  '5f00::1',
  'fc00::1',
  'fdff::1',
  'fe80::1',
  'febf::1',
  'fec0::1',
  'ff02::1',
];

const ipv4 = (value: bigint) => [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
const ipv4Value = (text: string) => text.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n);
const ipv6 = (value: bigint) => Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(':');
const ipv6Value = (text: string, filler: string) => {
  const groups = text.split(':');
  return [...groups, ...Array<string>(8 - groups.length).fill(filler)].reduce((value, group) => value * 65_536n + BigInt(`0x${group}`), 0n);
};

const ranges = [
  ...REFUSED_IPV4.map(([first, last, ...near]) => ({ name: first, spell: ipv4, first: ipv4Value(first), last: ipv4Value(last), near })),
  ...REFUSED_IPV6.map(([first, last, ...near]) => ({
    name: `${first}::`,
    spell: ipv6,
    first: ipv6Value(first, '0'),
    last: ipv6Value(last, 'ffff'),
    near,
  })),
];

describe('an address', () => {
  it.each(ranges)('of $name is rejected from its first to its last, and its neighbours are not', ({ spell, first, last, near }) => {
    const [before, after] = near;
    for (const value of [first, last]) expect(isPublicAddress(spell(value)), spell(value)).toBe(false);
    if (before !== null) expect(isPublicAddress(spell(first - 1n)), spell(first - 1n)).toBe(before);
    if (after !== null) expect(isPublicAddress(spell(last + 1n)), spell(last + 1n)).toBe(after);
    fc.assert(
      fc.property(fc.bigInt({ min: first, max: last }), (value) => {
        expect(isPublicAddress(spell(value))).toBe(false);
        expect(() => requirePublicAddress(spell(value))).toThrow(expect.objectContaining({ code: 'INPUT_INVALID', field: 'url' }));
      }),
    );
  });

  it.each([
    { bits: 32, spell: ipv4, refused: ranges.filter((range) => range.spell === ipv4) },
    { bits: 128, spell: ipv6, refused: ranges.filter((range) => range.spell === ipv6) },
  ])('of $bits bits is public outside of those', ({ bits, spell, refused }) => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }), (value) => {
        const expected = !refused.some(({ first, last }) => value >= first && value <= last);
        expect(isPublicAddress(spell(value))).toBe(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(NAMED_IPV6)('%s is rejected', (ip) => {
    expect(isPublicAddress(ip)).toBe(false);
  });

  it.each([
    '',
    'localhost',
    'example.com',
    '8.8.8',
    '0x8.8.8.8',
    '010.8.8.8',
    '[2606:4700::1]',
    '2606:4700::1%eth0',
    '8.8.8.8/32',
    '8.8.8.8:443',
  ])('is not what is none: %j', (text) => {
    expect(isPublicAddress(text)).toBe(false);
    expect(isLoopbackAddress(text)).toBe(false);
  });

  it('leads back here only as loopback, and never in disguise', () => {
    for (const ip of ['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1']) expect(isLoopbackAddress(ip), ip).toBe(true);
    for (const ip of ['126.255.255.255', '128.0.0.0', '0.0.0.0', '::', '::2', '::ffff:127.0.0.1', '10.0.0.1'])
      expect(isLoopbackAddress(ip), ip).toBe(false);
  });

  it('is not contained in the error', () => {
    expect(() => requirePublicAddress('10.20.30.40')).not.toThrow(/10\.20/);
    expect(() => requirePublicAddress('8.8.8.8')).not.toThrow();
  });
});
