import fc from 'fast-check';
import { concat, type Hex, keccak256, numberToHex, pad } from 'viem';
import { describe, expect, it } from 'vitest';
import { deriveSalt } from '../../../../src/chain/eas/eas.ts';
import { type CommitmentOpening, computeCommitment, DIRECTION_CODES, decodeCode, SIGNAL_CODES } from '../../../../src/chain/eas/schemas.ts';

const hex32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);
const opening = fc.record<CommitmentOpening>({
  salt: hex32,
  signal: fc.constantFrom('HOLD', 'BUY', 'SELL'),
  direction: fc.constantFrom('UP', 'DOWN'),
  confidenceBps: fc.integer({ min: 0, max: 10_000 }),
  pUpBps: fc.integer({ min: 0, max: 10_000 }),
  btcPriceCents: fc.maxSafeNat(),
});

describe('computeCommitment', () => {
  it('hashes six words, each padded to 32 bytes, with keccak256', () => {
    fc.assert(
      fc.property(opening, (values) => {
        const { salt, signal, direction, confidenceBps, pUpBps, btcPriceCents } = values;
        const numbers = [SIGNAL_CODES[signal], DIRECTION_CODES[direction], confidenceBps, pUpBps, btcPriceCents];
        const words = [salt, ...numbers.map((number) => pad(numberToHex(number)))];
        expect(computeCommitment(values)).toBe(keccak256(concat(words)));
      }),
    );
  });

  it('changes with any field', () => {
    fc.assert(
      fc.property(
        opening,
        opening,
        fc.constantFrom(...(['salt', 'signal', 'direction', 'confidenceBps', 'pUpBps', 'btcPriceCents'] as const)),
        (one, other, field) => {
          fc.pre(one[field] !== other[field]);
          expect(computeCommitment({ ...one, [field]: other[field] })).not.toBe(computeCommitment(one));
        },
      ),
    );
  });

  it('matches the published example', () => {
    const salt = deriveSalt('master', '2026-08-20:7d');
    const values = { salt, signal: 'BUY', direction: 'UP', confidenceBps: 6_100, pUpBps: 6_100, btcPriceCents: 11_234_567 } as const;
    expect(computeCommitment(values)).toMatchInlineSnapshot(`"0xde5c4a4d8757defd99e1907680fb8385431e581fa12a429ba8318adb6819dc23"`);
  });

  it.each([
    ['salt', '0x12'],
    ['signal', 'GATED'],
    ['signal', 'toString'],
    ['direction', 'SIDEWAYS'],
    ['confidenceBps', 10_001],
    ['confidenceBps', -1],
    ['pUpBps', 0.5],
    ['pUpBps', Number.NaN],
    ['btcPriceCents', -1],
    ['btcPriceCents', 2 ** 53],
  ])('rejects %s %s and names the field', (field, value) => {
    const valid = { salt: pad('0x1'), signal: 'HOLD', direction: 'UP', confidenceBps: 5_000, pUpBps: 5_000, btcPriceCents: 1 };
    const attempt = () => computeCommitment({ ...valid, [field]: value } as CommitmentOpening);
    expect(attempt).toThrowError(expect.objectContaining({ code: 'INPUT_INVALID', field }));
  });
});

describe('deriveSalt', () => {
  it('is HMAC-SHA256 of the id (RFC 4231, test case 2)', () => {
    expect(deriveSalt('Jefe', 'what do ya want for nothing?')).toBe('0x5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843');
  });

  it('differs by forecast and by secret', () => {
    const salts = [deriveSalt('a', '2026-08-20:1d'), deriveSalt('a', '2026-08-20:2d'), deriveSalt('b', '2026-08-20:1d')];
    expect(new Set(salts).size).toBe(3);
  });

  it('rejects an empty secret', () => {
    expect(() => deriveSalt('', '2026-08-20:1d')).toThrowError(expect.objectContaining({ code: 'INPUT_INVALID' }));
  });
});

it('rejects an unknown code', () => {
  expect(decodeCode('signal', SIGNAL_CODES, 2)).toBe('SELL');
  expect(() => decodeCode('signal', SIGNAL_CODES, 3)).toThrowError(expect.objectContaining({ code: 'INPUT_INVALID', field: 'signal' }));
});
