import fc from 'fast-check';
import { type Address, encodeAbiParameters, type Hex, parseAbiParameters, zeroAddress, zeroHash } from 'viem';
import { describe, expect, it } from 'vitest';
import { buildAttestationCall, parseAttestationAnswer, toEvidence } from '../../../../src/dashboard/chain/attestations.ts';
import { encodeCid } from '../../../../src/dashboard/chain/cid.ts';
import { buildMetadata } from '../../../../src/record/commitment/metadata.ts';

const ATTESTATION = parseAbiParameters(
  '(bytes32 uid, bytes32 schema, uint64 time, uint64 expirationTime, uint64 revocationTime, bytes32 refUID, address recipient, address attester, bool revocable, bytes data)',
);

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((array) => `0x${Buffer.from(array).toString('hex')}` as Hex);
const time = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const attestation = fc.record({
  uid: hex(32).filter((uid) => BigInt(uid) !== 0n),
  ...{ schema: hex(32), time, expirationTime: time, revocationTime: time, refUID: hex(32) },
  ...{ recipient: hex(20) as fc.Arbitrary<Address>, attester: hex(20) as fc.Arbitrary<Address>, revocable: fc.boolean() },
  data: fc.uint8Array({ maxLength: 400 }).map((array) => `0x${Buffer.from(array).toString('hex')}` as Hex),
});
const encoded = (one: typeof attestation extends fc.Arbitrary<infer T> ? T : never) => encodeAbiParameters(ATTESTATION, [one]);

describe('parseAttestationAnswer', () => {
  it('returns the attestation of the contract', () => {
    fc.assert(
      fc.property(attestation, (one) => {
        const { attester, recipient, ...content } = parseAttestationAnswer({ result: encoded(one) }) as typeof one;
        expect({ ...content, attester: attester.toLowerCase(), recipient: recipient.toLowerCase() }).toEqual(one);
      }),
    );
  });

  it('returns null for a zero uid', () => {
    const words = { uid: zeroHash, schema: zeroHash, refUID: zeroHash, recipient: zeroAddress, attester: zeroAddress, data: '0x' } as const;
    const none = { ...words, time: 0n, expirationTime: 0n, revocationTime: 0n, revocable: false };
    expect(parseAttestationAnswer({ result: encoded(none) })).toBeNull();
  });

  it('says why any other answer is none, and never throws', () => {
    const problem = "the endpoint's answer cannot be read as an attestation";
    fc.assert(
      fc.property(attestation, fc.nat(), (one, at) => {
        const whole = encoded(one);
        const padding = (64 - ((one.data.length - 2) % 64)) % 64;
        const cut = whole.slice(0, 2 + 2 * (at % ((whole.length - 2 - padding) / 2)));
        expect(parseAttestationAnswer({ result: cut })).toEqual({ problem });
      }),
    );
    const wrong = fc.oneof(fc.anything(), fc.string(), hex(31));
    fc.assert(fc.property(wrong, (result) => void expect(parseAttestationAnswer({ result })).toEqual({ problem })));
    expect(parseAttestationAnswer({ problem: 'it is silent' })).toEqual({ problem: 'it is silent' });
  });
});

it('encodes the call of the contract', () => {
  // cast sig "getAttestation(bytes32)"
  const { params } = buildAttestationCall('0xea', `0x${'ab'.repeat(32)}`);
  expect(params).toEqual([{ to: '0xea', data: `0xa3112a64${'ab'.repeat(32)}` }, 'latest']);
});

it('treats a uid that was not read as one that is not on chain', () => {
  expect(toEvidence(new Map(), '0xAB', 'prediction')).toEqual({ uid: '0xab', schema: 'prediction', content: null, blockAt: null });
});

it('computes the same CID as the service', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.string()), (value) => {
      const { digest, cid } = buildMetadata(value);
      expect(encodeCid(digest)).toBe(cid);
    }),
    { numRuns: 30 },
  );
});
