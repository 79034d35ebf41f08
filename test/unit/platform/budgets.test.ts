import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressRanges, listBudgetRanges, toAddressKey } from '../../../src/platform/budgets.ts';

describe('addressRanges', () => {
  it.each([
    ['203.0.113.7', ['203.0.113.7']],
    ['unknown', ['unknown']],
    ['2001:db8:1:2::/64', ['2001:db8:1:2::/64', '2001:db8:1:0::/56', '2001:db8:1::/48']],
    ['2001:db8:1:2ff::/64', ['2001:db8:1:2ff::/64', '2001:db8:1:200::/56', '2001:db8:1::/48']],
    ['0:0:0:0::/64', ['0:0:0:0::/64', '0:0:0:0::/56', '0:0:0::/48']],
  ])('returns the ranges of %s', (key, ranges) => {
    expect(addressRanges(key)).toEqual(ranges);
  });

  it('returns the same /48 for all addresses of a /48, and the same /56 where the first 56 bits are equal', () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    fc.assert(
      fc.property(fc.tuple(fc.integer({ min: 1, max: 0xffff }), group, group), group, group, (site, one, other) => {
        const rangesOf = (subnet: number) => addressRanges(toAddressKey(`${[...site, subnet].map((n) => n.toString(16)).join(':')}::1`)!);
        const [first, second] = [rangesOf(one), rangesOf(other)];
        expect(second[2]).toBe(first[2]);
        expect(second[1] === first[1]).toBe(one >> 8 === other >> 8);
        expect(second[0] === first[0]).toBe(one === other);
      }),
    );
  });
});

describe('listBudgetRanges', () => {
  it.each([
    ['203.0.113.7', ['address 203.0.113.7', '/24 203.0.113.0/24']],
    ['unknown', ['address unknown']],
    ['2001:db8:1:2ff::/64', ['address 2001:db8:1:2ff::/64', '/56 2001:db8:1:200::/56', '/48 2001:db8:1::/48']],
  ])('returns scopes and ranges of %s', (key, ranges) => {
    expect(listBudgetRanges(key).map(({ scope, range }) => `${scope} ${range}`)).toEqual(ranges);
  });
});

const group = fc.integer({ min: 0, max: 0xffff }).map((number) => number.toString(16));
const network = fc.array(group, { minLength: 4, maxLength: 4 });
const host = fc.array(group, { minLength: 4, maxLength: 4 });

describe('toAddressKey', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:51234', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['[::ffff:203.0.113.7]:443', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
  ])('maps %s to %s', (text, key) => {
    expect(toAddressKey(text)).toBe(key);
  });

  it.each(['', 'unknown', 'example.org', '1.2.3', '1.2.3.4.5', '1.2.3.4:', ':::', '[::1', '_hidden', '127.0.0.1, 10.0.0.1'])(
    'is null for "%s"',
    (text) => {
      expect(toAddressKey(text)).toBeNull();
    },
  );

  it('maps all spellings of a /64 to one key, and another /64 to another', () => {
    fc.assert(
      fc.property(network, host, host, network, (net, one, other, elsewhere) => {
        const key = toAddressKey([...net, ...one].join(':'));
        const isMapped = (groups: string[]) => groups.slice(0, 5).every((text) => text === '0') && groups[5] === 'ffff';
        fc.pre(!isMapped([...net, ...one]) && !isMapped([...net, ...other]));
        expect(key).not.toBeNull();
        expect(toAddressKey([...net, ...other].map((text) => text.padStart(4, '0').toUpperCase()).join(':'))).toBe(key);
        expect(toAddressKey(new URL(`http://[${[...net, ...one].join(':')}]`).hostname)).toBe(key);
        expect(toAddressKey([...elsewhere, ...one].join(':')) === key).toBe(elsewhere.join() === net.join());
      }),
    );
  });

  it('keeps every IPv4 address, mapped or not', () => {
    fc.assert(
      fc.property(fc.ipV4(), (ip) => {
        expect(toAddressKey(ip)).toBe(ip);
        expect(toAddressKey(`::ffff:${ip}`)).toBe(ip);
      }),
    );
  });
});
