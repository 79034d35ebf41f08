import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bumpFees } from '../../../src/chain/journal.ts';

const wei = fc.bigInt({ min: 0n, max: 10n ** 12n });
const fees = fc.record({ maxFeePerGas: wei, maxPriorityFeePerGas: wei });
const quotes = fc.record({ maxFeePerGas: wei, maxPriorityFeePerGas: wei, baseFeePerGas: wei, blockNumber: fc.nat() });

describe('bumpFees', () => {
  it('raises both fees by at least an eighth, and never above the cap', () => {
    fc.assert(
      fc.property(fees, quotes, wei, (previous, quote, cap) => {
        const bumped = bumpFees(previous, quote, cap);
        if (bumped === null) return;
        expect(bumped.maxFeePerGas * 8n).toBeGreaterThanOrEqual(previous.maxFeePerGas * 9n);
        expect(bumped.maxPriorityFeePerGas * 8n).toBeGreaterThanOrEqual(previous.maxPriorityFeePerGas * 9n);
        expect(bumped.maxFeePerGas).toBeLessThanOrEqual(cap);
      }),
    );
  });

  it('exceeds the base fee when the cap allows it', () => {
    const quote = { maxFeePerGas: 210n, maxPriorityFeePerGas: 10n, baseFeePerGas: 100n, blockNumber: 1 };
    expect(bumpFees({ maxFeePerGas: 50n, maxPriorityFeePerGas: 1n }, quote, 1_000n)).toEqual({
      maxFeePerGas: 210n,
      maxPriorityFeePerGas: 10n,
    });
    expect(bumpFees({ maxFeePerGas: 50n, maxPriorityFeePerGas: 1n }, quote, 150n)).toMatchObject({ maxFeePerGas: 150n });
    expect(bumpFees({ maxFeePerGas: 140n, maxPriorityFeePerGas: 1n }, quote, 150n)).toBeNull();
  });
});
