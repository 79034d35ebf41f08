import fc from 'fast-check';
import { bytesToHex, isAddressEqual, recoverAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { parseDerSignature, SignerRefusal, toWalletAddress, toWalletSignature } from '../../../../src/chain/signers.ts';
import { generateKmsKey, generateSpki, signDer } from '../../../support/signers/kms-keys.ts';

const DIGEST = fc.uint8Array({ minLength: 32, maxLength: 32 });
const FORM = fc.constantFrom('low', 'high');

describe('the address of a public key', () => {
  it('is that of the wallet', () => {
    for (let round = 0; round < 20; round++) {
      const { spki, address } = generateKmsKey();
      expect(toWalletAddress(spki)).toBe(address);
    }
  });

  it.each(['prime256v1', 'secp384r1'])('is refused for a key of %s', (curve) => {
    expect(() => toWalletAddress(generateSpki(curve).spki)).toThrow('its key is not of the curve secp256k1');
  });

  it('is refused for anything else than a public key', () => {
    const anything = fc.property(fc.uint8Array({ maxLength: 120 }), (bytes) => {
      expect(() => toWalletAddress(bytes)).toThrow(SignerRefusal);
    });
    fc.assert(anything, { numRuns: 200 });
  });
});

describe('a DER signature', () => {
  it('becomes one with a low s, from which the wallet is recovered', async () => {
    const { key, address } = generateKmsKey();
    const property = fc.asyncProperty(DIGEST, FORM, async (digest, form) => {
      const hash = bytesToHex(digest);
      const [low, given] = await Promise.all(
        (['low', form] as const).map((each) => toWalletSignature(parseDerSignature(signDer(key, digest, each)), hash, address)),
      );
      for (const signature of [low!, given!]) {
        expect(BigInt(signature.s)).toBeLessThanOrEqual(0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n);
        expect(isAddressEqual(await recoverAddress({ hash, signature }), address)).toBe(true);
      }
    });
    await fc.assert(property, { numRuns: 50 });
  });

  it('is refused for another digest and for another wallet', async () => {
    const [own, other] = [generateKmsKey(), generateKmsKey()];
    const property = fc.asyncProperty(DIGEST, DIGEST, FORM, async (digest, another, form) => {
      fc.pre(Buffer.compare(digest, another) !== 0);
      const signature = parseDerSignature(signDer(own.key, digest, form));
      await expect(toWalletSignature(signature, bytesToHex(another), own.address)).rejects.toThrow(SignerRefusal);
      await expect(toWalletSignature(signature, bytesToHex(digest), other.address)).rejects.toThrow(SignerRefusal);
    });
    await fc.assert(property, { numRuns: 20 });
  });

  it('is refused when truncated, extended or made of anything else', () => {
    const der = signDer(generateKmsKey().key, new Uint8Array(32).fill(7), 'high');
    for (let length = 0; length < der.length; length++) expect(() => parseDerSignature(der.subarray(0, length))).toThrow(SignerRefusal);
    expect(() => parseDerSignature(Uint8Array.from([...der, 0]))).toThrow(SignerRefusal);
    const anything = fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      expect(() => parseDerSignature(bytes)).toThrow(SignerRefusal);
    });
    fc.assert(anything, { numRuns: 200 });
  });
});
