import fc from 'fast-check';
import { type Address, encodeAbiParameters, type Hex, parseAbiParameters } from 'viem';
import { describe, expect, it } from 'vitest';
import { deriveAttestationUid as auditUidOf } from '../../../../src/audit/chain/attestation-uid.ts';
import {
  encodePrediction,
  encodeResolution,
  EAS_SCHEMAS as SERVICE_SCHEMAS,
  getSchemaUid as serviceSchemaUid,
} from '../../../../src/chain/eas/attestation-schemas.ts';
import {
  type CommitmentOpening,
  DIRECTION_CODES,
  OUTCOME_CODES,
  SIGNAL_CODES,
  computeCommitment as serviceCommitmentOf,
} from '../../../../src/chain/eas/commitment.ts';
import { DecodeError } from '../../../../src/dashboard/chain/abi.ts';
import { computeSha256Hex, encodeCid } from '../../../../src/dashboard/chain/cid.ts';
import {
  computeAttestationUid,
  computeSchemaUid,
  DIRECTIONS,
  decodeAttestation,
  decodePredictionData,
  decodeResolutionData,
  encodeGetAttestation,
  hashOpening,
  isUidOfContent,
  OUTCOMES,
  SCHEMA_TEXTS,
  SIGNALS,
} from '../../../../src/dashboard/chain/eas.ts';
import { buildMetadata } from '../../../../src/record/commitment/metadata.ts';

const ATTESTATION = parseAbiParameters(
  '(bytes32 uid, bytes32 schema, uint64 time, uint64 expirationTime, uint64 revocationTime, bytes32 refUID, address recipient, address attester, bool revocable, bytes data)',
);

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((array) => `0x${Buffer.from(array).toString('hex')}` as Hex);
const time = fc.nat({ max: 2 ** 40 });
const attestation = fc.record({
  uid: hex(32).filter((uid) => BigInt(uid) !== 0n),
  ...{ schema: hex(32), time, expirationTime: time, revocationTime: time, refUID: hex(32) },
  ...{ recipient: hex(20) as fc.Arbitrary<Address>, attester: hex(20) as fc.Arbitrary<Address>, revocable: fc.boolean() },
  data: fc.uint8Array({ maxLength: 400 }).map((array) => `0x${Buffer.from(array).toString('hex')}` as Hex),
});

type Arbitrary = typeof attestation extends fc.Arbitrary<infer T> ? T : never;

function encoded({ time: at, expirationTime, revocationTime, ...rest }: Arbitrary): Hex {
  const times = { time: BigInt(at), expirationTime: BigInt(expirationTime), revocationTime: BigInt(revocationTime) };
  return encodeAbiParameters(ATTESTATION, [{ ...rest, ...times }]);
}

describe('decodeAttestation', () => {
  it('returns the attestation of the contract', () => {
    fc.assert(fc.property(attestation, (one) => void expect(decodeAttestation(encoded(one))).toEqual(one)));
  });

  it('returns null for a zero uid', () => {
    const nothing = { uid: '0x', schema: '0x', refUID: '0x', recipient: '0x', attester: '0x', data: '0x' } as const;
    const zero = (bytes: number) => `0x${'00'.repeat(bytes)}` as Hex;
    const words = { uid: zero(32), schema: zero(32), refUID: zero(32), recipient: zero(20), attester: zero(20) };
    const none = { ...nothing, ...words, time: 0, expirationTime: 0, revocationTime: 0, revocable: false };
    expect(decodeAttestation(encoded(none))).toBeNull();
  });

  it('rejects truncated, excess and empty data', () => {
    fc.assert(
      fc.property(attestation, fc.nat(), (one, at) => {
        const whole = encoded(one);
        const cut = whole.slice(0, 2 + 2 * (at % ((whole.length - 2) / 2)));
        expect(() => decodeAttestation(cut)).toThrow(DecodeError);
        expect(() => decodeAttestation(`${whole}${'00'.repeat(32)}`)).toThrow(DecodeError);
      }),
    );
  });

  it('rejects any other answer', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.anything(), fc.string(), hex(32), hex(384), hex(420)),
        (answer) => void expect(() => decodeAttestation(answer)).toThrow(DecodeError),
      ),
    );
  });

  it('computes the same uid as the audit, with equal attestations before it', () => {
    fc.assert(
      fc.property(attestation, fc.nat({ max: 63 }), (one, bump) => {
        const raw = { ...one, time: BigInt(one.time), expirationTime: BigInt(one.expirationTime) };
        expect(computeAttestationUid(one, bump)).toBe(auditUidOf(raw, bump));
        expect(isUidOfContent({ ...one, uid: computeAttestationUid(one, bump) })).toBe(true);
        expect(isUidOfContent({ ...one, uid: computeAttestationUid({ ...one, time: one.time + 1 }, bump) })).toBe(false);
      }),
      { numRuns: 20 },
    );
  });

  it('encodes the call of the contract', () => {
    // cast sig "getAttestation(bytes32)"
    expect(encodeGetAttestation(`0x${'ab'.repeat(32)}`)).toBe(`0xa3112a64${'ab'.repeat(32)}`);
  });
});

describe('schemas', () => {
  it('match those of the service, with uids and enum values', () => {
    expect(SCHEMA_TEXTS).toEqual(SERVICE_SCHEMAS);
    for (const name of ['prediction', 'resolution'] as const) expect(computeSchemaUid(name)).toBe(serviceSchemaUid(name));
    for (const [word, code] of Object.entries(SIGNAL_CODES)) expect(SIGNALS[code]).toBe(word);
    for (const [word, code] of Object.entries(DIRECTION_CODES)) expect(DIRECTIONS[code]).toBe(word);
    for (const [word, code] of Object.entries(OUTCOME_CODES)) expect(OUTCOMES[code]).toBe(word);
  });

  const opening = fc.record({
    salt: hex(32),
    signal: fc.constantFrom('HOLD', 'BUY', 'SELL'),
    direction: fc.constantFrom('UP', 'DOWN'),
    confidenceBps: fc.integer({ min: 0, max: 10_000 }),
    pUpBps: fc.integer({ min: 0, max: 10_000 }),
    btcPriceCents: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
  }) as fc.Arbitrary<CommitmentOpening>;
  const coded = ({ signal, direction, ...rest }: CommitmentOpening) => ({
    ...rest,
    signal: SIGNAL_CODES[signal],
    direction: DIRECTION_CODES[direction],
  });

  it('computes the same commitment as the service', () => {
    fc.assert(fc.property(opening, (one) => void expect(hashOpening(coded(one))).toBe(serviceCommitmentOf(one))));
  });

  it('rejects values that do not fit their type', () => {
    const fitting = { salt: `0x${'11'.repeat(32)}`, signal: 1, direction: 1, confidenceBps: 5_100, pUpBps: 5_100, btcPriceCents: 1 };
    for (const wrong of [
      { signal: -1 },
      { direction: 256 },
      { pUpBps: 70_000 },
      { btcPriceCents: 1.5 },
      { btcPriceCents: Number.NaN },
      { salt: '0x11' },
    ]) {
      expect(() => hashOpening({ ...fitting, ...wrong })).toThrow(DecodeError);
    }
  });

  it('decodes the data of the service', () => {
    const closes = {
      btcAtSignalCents: fc.nat(),
      btcAtResolutionCents: fc.nat(),
      returnBps: fc.integer({ min: -10_000, max: 2 ** 31 - 1 }),
      outcome: fc.constantFrom('HOLD', 'WIN', 'LOSS'),
    };
    fc.assert(
      fc.property(opening, fc.record(closes), (one, closesData) => {
        const outcome = closesData.outcome as 'HOLD' | 'WIN' | 'LOSS';
        const data = encodeResolution({ ...one, ...closesData, outcome });
        expect(decodeResolutionData({ data })).toEqual({ ...coded(one), ...closesData, outcome: OUTCOME_CODES[outcome] });
      }),
    );
    const window = { windowOpensAt: 1_763_769_600, resolvesAt: 1_764_374_400 };
    const place = {
      sequence: 60,
      day: 20_413,
      horizonDays: 7,
      commitment: `0x${'aa'.repeat(32)}`,
      inputsDigest: `0x${'bb'.repeat(32)}`,
      metadata: `0x${'cc'.repeat(32)}`,
    } as const;
    const data = encodePrediction({
      ...place,
      windowOpensAt: new Date(window.windowOpensAt * 1_000),
      resolvesAt: new Date(window.resolvesAt * 1_000),
    });
    expect(decodePredictionData({ data })).toEqual({ ...place, ...window });
    expect(() => decodePredictionData({ data: data.slice(0, -2) })).toThrow(DecodeError);
    expect(() => decodePredictionData({ data: `0x${'ff'.repeat(256)}` })).toThrow(DecodeError);
  });
});

describe('content digests', () => {
  it('computes the same digest and CID as the service', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), (value) => {
        const { json, digest, cid } = buildMetadata(value);
        expect(computeSha256Hex(new TextEncoder().encode(json))).toBe(digest);
        expect(encodeCid(digest)).toBe(cid);
      }),
      { numRuns: 30 },
    );
  });
});
