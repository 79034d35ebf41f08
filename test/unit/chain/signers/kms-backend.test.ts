import { expect, it } from 'vitest';
import { createRoleSigner, type KmsKey, openKmsBackend, SignerBusy, SignerRefusal } from '../../../../src/chain/signers.ts';
import { generateKmsKey, signDer } from '../../../support/signers/kms-keys.ts';
import { testSigner } from '../../../support/signers/signer-suite.ts';

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
  ['the signature of another key', async (digest: Uint8Array) => signDer(generateKmsKey().key, digest, 'low'), 'gives no valid signature'],
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
