import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { concat, type Hex, keccak256, numberToHex, pad } from 'viem';
import { describe, expect, it } from 'vitest';
import { deriveSalt } from '../../../../src/chain/eas/eas.ts';
import {
  type CommitmentOpening,
  computeCommitment,
  computeDistributionDigest,
  DIRECTION_CODES,
  DISTRIBUTION_SIZE,
  type DistributionOpening,
  decodeCode,
  decodePrediction,
  decodeResolution,
  encodePrediction,
  encodeResolution,
  fromQuantilesMicro,
  getSchemaUid,
  type PredictionData,
  type ResolutionData,
  SIGNAL_CODES,
  toQuantilesMicro,
} from '../../../../src/chain/eas/schemas.ts';

describe('attestation schemas', () => {
  const hex32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);
  const second = fc.integer({ min: 0, max: 4_000_000_000 }).map((seconds) => new Date(seconds * 1000));
  const basisPoints = fc.integer({ min: 0, max: 10_000 });

  const prediction = fc.record<PredictionData>({
    sequence: fc.maxSafeNat(),
    day: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    horizonDays: fc.integer({ min: 1, max: 2 ** 16 - 1 }),
    windowOpensAt: second,
    resolvesAt: second,
    commitment: hex32,
    inputsDigest: hex32,
    metadata: hex32,
  });

  const resolution = fc.record<ResolutionData>({
    salt: hex32,
    signal: fc.constantFrom('HOLD', 'BUY', 'SELL'),
    direction: fc.constantFrom('UP', 'DOWN'),
    confidenceBps: basisPoints,
    pUpBps: basisPoints,
    btcPriceCents: fc.maxSafeNat(),
    btcAtSignalCents: fc.maxSafeNat(),
    btcAtResolutionCents: fc.maxSafeNat(),
    returnBps: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    outcome: fc.constantFrom('HOLD', 'WIN', 'LOSS'),
  });

  describe('EAS schemas', () => {
    it('have the published uids', () => {
      expect({ prediction: getSchemaUid('prediction'), resolution: getSchemaUid('resolution') }).toMatchInlineSnapshot(`
      {
        "prediction": "0xceae29d97310d423479a1f281d3bb5bcf70b934399225a940502ed9e0eeb23b6",
        "resolution": "0x8f7b363903cbd1afb8471306d9fcd7560dded8b59d8472d9efffc0bd3464834c",
      }
    `);
    });

    it('encode a prediction in eight words and decode it again', () => {
      fc.assert(
        fc.property(prediction, (data) => {
          expect(encodePrediction(data)).toHaveLength(2 + 8 * 64);
          expect(decodePrediction(encodePrediction(data))).toEqual(data);
        }),
      );
    });

    it('encode a resolution and decode it again', () => {
      fc.assert(
        fc.property(resolution, (data) => {
          expect(decodeResolution(encodeResolution(data))).toEqual(data);
        }),
      );
    });

    it('reject a time with a fraction of a second, naming the field', () => {
      const [data] = fc.sample(prediction, 1);
      const attempt = () => encodePrediction({ ...data, resolvesAt: new Date(1_500) });
      expect(attempt).toThrowError(expect.objectContaining({ code: 'INPUT_INVALID', field: 'resolvesAt' }));
    });

    it('reject data of another schema', () => {
      const refused = expect.objectContaining({ code: 'ATTESTATION_MISMATCH' });
      expect(() => decodePrediction('0x1234')).toThrowError(refused);
      const [data] = fc.sample(resolution, 1);
      const unknownSignal = encodeResolution(data).replace(/^(0x.{64}.{63})./, '$19') as Hex;
      expect(() => decodeResolution(unknownSignal)).toThrowError(refused);
    });
  });
});

describe('commitment', () => {
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
});

describe('distribution digest', () => {
  const quantiles = fc
    .array(fc.double({ min: -2, max: 2, noNaN: true }), { minLength: DISTRIBUTION_SIZE, maxLength: DISTRIBUTION_SIZE })
    .map((values) => values.toSorted((a, b) => a - b));
  const opening: fc.Arbitrary<DistributionOpening> = fc.record({
    predictionId: fc.constant('2026-11-23:2d'),
    modelVersion: fc.constantFrom('m1.2026-08-14', 'm0-d1.2026-08-14'),
    salt: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}` as const),
    quantilesMicro: quantiles.map(toQuantilesMicro),
  });

  /** The docstring's recipe, written another way. */
  function recompute({ predictionId, modelVersion, salt, quantilesMicro }: DistributionOpening): string {
    const numbers = quantilesMicro.map((value) => (value >>> 0).toString(16).padStart(8, '0')).join('');
    const head = Buffer.from(`oracle-quantiles-1\n${predictionId} ${modelVersion}\n`, 'ascii');
    return `0x${createHash('sha256')
      .update(Buffer.concat([head, Buffer.from(salt.slice(2) + numbers, 'hex')]))
      .digest('hex')}`;
  }

  describe('the digest of a distribution', () => {
    it('equals the documented encoding', () => {
      fc.assert(
        fc.property(opening, (one) => {
          expect(computeDistributionDigest(one)).toBe(recompute(one));
        }),
      );
    });

    it('changes with every part of the opening', () => {
      fc.assert(
        fc.property(opening, fc.nat(DISTRIBUTION_SIZE - 1), (one, index) => {
          const moved = one.quantilesMicro.map((value, at) => (at >= index ? value + 1 : value));
          const salt = `0x${one.salt.slice(4)}${one.salt.slice(2, 4)}` as const;
          const others = [
            { quantilesMicro: moved },
            { predictionId: '2026-11-23:3d' },
            { modelVersion: 'm1.2026-02-15' },
            ...(salt === one.salt ? [] : [{ salt }]),
          ];
          for (const other of others) expect(computeDistributionDigest({ ...one, ...other })).not.toBe(computeDistributionDigest(one));
        }),
      );
    });

    it('covers the quantiles to half a millionth', () => {
      fc.assert(
        fc.property(quantiles, (values) => {
          const back = fromQuantilesMicro(toQuantilesMicro(values));
          for (const [index, value] of values.entries()) expect(Math.abs(back[index]! - value)).toBeLessThanOrEqual(0.5e-6 + 1e-12);
        }),
      );
    });

    const valid = { predictionId: '2026-11-23:2d', modelVersion: 'm1.2026-08-14', salt: `0x${'ab'.repeat(32)}` as const };
    it.each([
      ['too few', Array(198).fill(0)],
      ['a fraction', [...Array(198).fill(0), 0.5]],
      ['a descent', [1, ...Array(198).fill(0)]],
      ['a number beyond 32 bits', [...Array(198).fill(0), 2 ** 31]],
    ])('refuses %s', (_, quantilesMicro: number[]) => {
      expect(() => computeDistributionDigest({ ...valid, quantilesMicro })).toThrow(expect.objectContaining({ field: 'quantilesMicro' }));
    });
  });
});
