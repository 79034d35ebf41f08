import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toAddressKey } from '../../../src/http/request-counter.ts';
import { addressRanges, listBudgetRanges } from '../../../src/platform/budgets.ts';

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
