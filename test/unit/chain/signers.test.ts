import fc from 'fast-check';
import { bytesToHex, isAddressEqual, recoverAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import {
  createKeySigner,
  createRoleSigner,
  type KmsKey,
  openKmsBackend,
  parseDerSignature,
  SignerBusy,
  SignerRefusal,
  toWalletAddress,
  toWalletSignature,
} from '../../../src/chain/signers.ts';
import { generateKmsKey, generateSpki, signDer } from '../../support/signers/kms-keys.ts';
import { testSigner } from '../../support/signers/signer-suite.ts';

describe('kms backend', () => {
  const { key, spki, address } = generateKmsKey();
  let signatures = 0;
  const KMS_KEY: KmsKey = {
    getPublicKey: async () => spki,
    sign: async (digest) => signDer(key, digest, signatures++ % 2 === 0 ? 'low' : 'high'),
  };
  const open = async (change: Partial<KmsKey>) => createRoleSigner('attester', await openKmsBackend({ ...KMS_KEY, ...change }));
  const sign = async (change: Partial<KmsKey>) => (await open(change)).account.signMessage({ message: 'a' });

  testSigner('a key of KMS', async () => ({ signer: await open({}), address }));

  it('repeats a signature twice while KMS throttles, and then gives up with a retryable error', async () => {
    let attempts = 0;
    const throttled = (times: number) => async (digest: Uint8Array) => {
      attempts++;
      if (attempts <= times) throw new SignerBusy('ThrottlingException');
      return signDer(key, digest, 'high');
    };
    await sign({ sign: throttled(2) });
    expect(attempts).toBe(3);
    attempts = 0;
    await expect(sign({ sign: throttled(9) })).rejects.toMatchObject({ code: 'SIGNER_UNAVAILABLE', retryable: true });
    expect(attempts).toBe(3);
  });

  it.each([
    ['an error', () => Promise.reject(new SignerRefusal('KMS answers AccessDeniedException (400)')), 'gives no valid signature'],
    ['bytes that are no signature', async () => new Uint8Array(70), 'gives no valid signature'],
    [
      'the signature of another key',
      async (digest: Uint8Array) => signDer(generateKmsKey().key, digest, 'low'),
      'gives no valid signature',
    ],
    ['nothing', () => Promise.reject(new Error('connect ECONNREFUSED')), 'does not answer'],
  ])('rejects once when the answer is %s, with the cause for the log only', async (_what, answer: KmsKey['sign'], words) => {
    let attempts = 0;
    const counted: KmsKey['sign'] = (digest) => {
      attempts++;
      return answer(digest);
    };
    const message = `The signer of the attester ${words}`;
    await expect(sign({ sign: counted })).rejects.toMatchObject({ code: 'SIGNER_UNAVAILABLE', message, cause: expect.any(Error) });
    expect(attempts).toBe(1);
  });

  it('notices that the name leads to another key now', async () => {
    const keys = [spki, generateKmsKey().spki];
    const signer = await open({ getPublicKey: async () => keys.shift()! });
    await expect(signer.ping!()).rejects.toMatchObject({ code: 'SIGNER_UNAVAILABLE' });
  });
});

testSigner('a key of this process', async () => {
  const key = generatePrivateKey();
  return { signer: createKeySigner('provider', key), address: privateKeyToAccount(key).address };
});
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
