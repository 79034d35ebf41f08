import fc from 'fast-check';
import { toHex, zeroHash } from 'viem';
import { describe, expect, it } from 'vitest';
import type { OnChainAttestation } from '../../../../src/chain/eas/attestation-reader.ts';
import {
  EAS_SCHEMAS,
  encodePrediction,
  encodeResolution,
  getSchemaUid,
  type ResolutionData,
  type SchemaName,
} from '../../../../src/chain/eas/attestation-schemas.ts';
import { computeCommitment } from '../../../../src/chain/eas/commitment.ts';
import { crossCheckAttestations } from '../../../../src/record/verification/prediction-checks.ts';

const OURS = `0x${'a'.repeat(40)}` as const;
const RESOLVES_AT = new Date('2026-01-08T00:00:00Z');

const OPENED: ResolutionData = {
  ...{ salt: toHex(7, { size: 32 }), signal: 'BUY', direction: 'UP', confidenceBps: 6_000, pUpBps: 6_000, btcPriceCents: 9_000_000 },
  ...{ btcAtSignalCents: 9_000_100, btcAtResolutionCents: 9_000_200, returnBps: 0, outcome: 'WIN' },
};

function onChain(schemaName: SchemaName, data: OnChainAttestation['data'], at: Date): OnChainAttestation {
  const schema = { schema: EAS_SCHEMAS[schemaName], schemaUid: getSchemaUid(schemaName), schemaName, schemaVersion: '1' };
  return { uid: zeroHash, attester: OURS, ...schema, refUid: zeroHash, at, revoked: false, data, decoded: [] };
}

const prediction = onChain(
  'prediction',
  encodePrediction({
    ...{ sequence: 1, day: 20_453, horizonDays: 7, windowOpensAt: new Date('2026-01-01T00:00:00Z'), resolvesAt: RESOLVES_AT },
    ...{ commitment: computeCommitment(OPENED), inputsDigest: zeroHash, metadata: zeroHash },
  }),
  new Date('2025-12-31T21:38:00Z'),
);

const resolution = (changes: Partial<ResolutionData> = {}, at = RESOLVES_AT) =>
  onChain('resolution', encodeResolution({ ...OPENED, ...changes }), at);

const failing = (changes: Partial<ResolutionData>, at?: Date) =>
  crossCheckAttestations(prediction, resolution(changes, at)).flatMap(({ ok, field }) => (ok ? [] : [field]));

describe('the cross-check of two attestations', () => {
  it('passes when the resolution opens the prediction, after the window, by the rule', () => {
    const checks = crossCheckAttestations(prediction, resolution());
    expect(checks.map(({ attestation, ok }) => [attestation, ok])).toEqual(Array(3).fill(['resolution', true]));
  });

  it('fails for any other value or salt', () => {
    const opening = fc.record({
      confidenceBps: fc.integer({ min: 0, max: 10_000 }),
      pUpBps: fc.integer({ min: 0, max: 10_000 }),
      btcPriceCents: fc.integer({ min: 1, max: 1e9 }),
      salt: fc.integer({ min: 0, max: 20 }).map((n) => toHex(n, { size: 32 })),
    });
    fc.assert(
      fc.property(opening, (other) => {
        const same = Object.entries(other).every(([name, value]) => OPENED[name as 'salt'] === value);
        expect(failing(other).includes('commitment opened on chain')).toBe(!same);
      }),
    );
    expect(failing({ direction: 'DOWN' })).toContain('commitment opened on chain');
    expect(failing({ confidenceBps: 12_000 })).toContain('commitment opened on chain');
  });

  it('fails before the window has ended', () => {
    expect(failing({}, new Date(RESOLVES_AT.getTime() - 1_000))).toEqual(['time']);
  });

  it.each([
    ['UP', 1, 'WIN'],
    ['UP', 0, 'LOSS'],
    ['UP', -1, 'LOSS'],
    ['DOWN', 1, 'LOSS'],
    ['DOWN', 0, 'WIN'],
    ['DOWN', -1, 'WIN'],
  ] as const)('has one outcome: %s with a change of %i cents is %s', (direction, change, outcome) => {
    const closes = { btcAtSignalCents: 100, btcAtResolutionCents: 100 + change };
    const wrong = outcome === 'WIN' ? 'LOSS' : 'WIN';
    expect(failing({ direction, ...closes, outcome })).not.toContain('outcome of the closes');
    expect(failing({ direction, ...closes, outcome: wrong })).toContain('outcome of the closes');
    expect(failing({ direction, ...closes, signal: 'HOLD', outcome: 'HOLD' })).not.toContain('outcome of the closes');
    expect(failing({ direction, ...closes, signal: 'HOLD', outcome })).toContain('outcome of the closes');
  });

  it('is empty for data of another schema', () => {
    expect(crossCheckAttestations(prediction, { ...resolution(), data: '0x12' })).toEqual([]);
    expect(crossCheckAttestations({ ...prediction, data: '0x' }, resolution())).toEqual([]);
  });
});
