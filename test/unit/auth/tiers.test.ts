import fc from 'fast-check';
import { formatUnits } from 'viem';
import { describe, expect, it } from 'vitest';
import { type Caller, TIERS } from '../../../src/auth/caller.ts';
import { formatTierRequirement, isTierAtLeast, lowerTier, requireTier, toTier } from '../../../src/auth/tiers.ts';

const wallet = `0x${'a'.repeat(40)}` as const;

describe('toTier', () => {
  it.each([0, 6, 18])('starts a tier exactly at its requirement, with %i decimals', (decimals) => {
    const unit = 10n ** BigInt(decimals);
    expect(toTier(0n, decimals)).toBe('public');
    expect(toTier(500_000_000n * unit - 1n, decimals)).toBe('public');
    expect(toTier(500_000_000n * unit, decimals)).toBe('basic');
    expect(toTier(1_000_000_000n * unit - 1n, decimals)).toBe('basic');
    expect(toTier(1_000_000_000n * unit, decimals)).toBe('premium');
    expect(toTier(2n ** 256n - 1n, decimals)).toBe('premium');
  });

  it('never falls when the balance rises', () => {
    const balance = fc.bigInt({ min: 0n, max: 2n ** 92n });
    fc.assert(fc.property(balance, balance, (one, more) => isTierAtLeast(toTier(one + more, 18), toTier(one, 18))));
  });

  it('returns the lower of two tiers in either order', () => {
    for (const one of TIERS) {
      for (const other of TIERS) {
        expect(lowerTier(one, other)).toBe(TIERS[Math.min(TIERS.indexOf(one), TIERS.indexOf(other))]);
      }
    }
  });
});

describe('a formatted balance', () => {
  it('is an exact decimal of whole tokens without trailing zeros', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.integer({ min: 0, max: 30 }), (balance, decimals) => {
        const text = formatUnits(balance, decimals);
        expect(text).toMatch(decimals === 0 ? /^(0|[1-9]\d*)$/ : /^(0|[1-9]\d*)(\.\d*[1-9])?$/);
        const [whole, fraction = ''] = text.split('.');
        expect(BigInt(whole + fraction.padEnd(decimals, '0'))).toBe(balance);
      }),
    );
  });

  it('shows a requirement with thousands separators', () => {
    expect(formatUnits(500_000_000n * 10n ** 18n + 1n, 18)).toBe('500000000.000000000000000001');
    expect(formatTierRequirement('basic')).toBe('at least 500,000,000 gate tokens');
    expect(formatTierRequirement('premium')).toBe('at least 1,000,000,000 gate tokens');
  });
});

describe('requireTier', () => {
  const refusal = (caller: Caller, tier: 'basic' | 'premium') => {
    try {
      return requireTier(caller, tier);
    } catch (error) {
      return error;
    }
  };

  it('accepts the required tier and all above it', () => {
    expect(refusal({ tier: 'basic', wallet }, 'basic')).toBeUndefined();
    expect(refusal({ tier: 'premium', wallet }, 'basic')).toBeUndefined();
    expect(refusal({ tier: 'premium', wallet }, 'premium')).toBeUndefined();
  });

  it('asks an anonymous caller for a token, and reports balance and requirement to a wallet', () => {
    expect(refusal({ tier: 'public' }, 'basic')).toMatchObject({ code: 'UNAUTHENTICATED', field: 'Authorization' });
    expect(refusal({ tier: 'basic', wallet, balance: '999999999.5' }, 'premium')).toMatchObject({
      code: 'TIER_REQUIRED',
      details: { tier: 'basic', requiredTier: 'premium', requiredBalance: '1000000000', balance: '999999999.5' },
    });
    expect(refusal({ tier: 'public', wallet, balance: '0' }, 'basic')).toMatchObject({ code: 'TIER_REQUIRED', details: { balance: '0' } });
  });
});
