import fc from 'fast-check';
import type { Hex } from 'viem';
import { describe, expect, it } from 'vitest';
import {
  decodePrediction,
  decodeResolution,
  encodePrediction,
  encodeResolution,
  getSchemaUid,
  type PredictionData,
  type ResolutionData,
} from '../../../../src/chain/eas/schemas.ts';

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
