import { createRequire } from 'node:module';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { KMS_PACKAGE, loadKmsSdk } from '../../../src/app/chain.ts';
import { createRoleSigner, type KmsKeyOptions, type KmsSdk, openKmsBackend, openKmsKey } from '../../../src/chain/signers.ts';
import { generateKmsKey, generateSpki } from '../../support/signers/kms-keys.ts';
import { type KmsAnswer, kmsError, startKms, type TestKms } from '../../support/signers/kms-server.ts';
import { testSigner } from '../../support/signers/signer-suite.ts';

const KEY = generateKmsKey();
const ALIAS = 'alias/oracle-attester';
const keys = { [ALIAS]: KEY, 'alias/p256': { ...KEY, spki: generateSpki('prime256v1').spki } };

let sdk: KmsSdk;
let kms: TestKms;
beforeAll(async () => {
  sdk = loadKmsSdk('ATTESTER_SIGNER', createRequire(import.meta.url));
  kms = await startKms(keys);
});
afterAll(() => kms.close());
afterEach(() => {
  kms.answer = null;
  kms.calls.length = 0;
});

const credentials = { accessKeyId: 'AKIDEXAMPLEAKIDEXAMP', secretAccessKey: 'a secret that no log shows' };
async function open(change: Partial<KmsKeyOptions> = {}, timeoutMs?: number) {
  const key = openKmsKey(sdk, { keyId: ALIAS, region: 'eu-central-1', endpoint: kms.url, credentials, ...change }, timeoutMs);
  return createRoleSigner('attester', await openKmsBackend(key));
}

testSigner(`AWS KMS, by ${KMS_PACKAGE}`, async () => {
  const own = await startKms(keys);
  return { signer: await open({ endpoint: own.url }), address: KEY.address, close: () => own.close() };
});

it('sends a digest only, signed with the credentials of the settings', async () => {
  const { account } = await open({ credentials: { ...credentials, sessionToken: 'a-session' } });
  await account.signMessage({ message: 'a' });
  expect(kms.calls.map(({ operation }) => operation)).toEqual(['GetPublicKey', 'Sign']);
  const { input, headers } = kms.calls[1]!;
  expect(input).toEqual({
    KeyId: ALIAS,
    Message: expect.stringMatching(/^.{44}$/),
    MessageType: 'DIGEST',
    SigningAlgorithm: 'ECDSA_SHA_256',
  });
  expect(headers.authorization).toContain(`Credential=${credentials.accessKeyId}/`);
  expect(headers.authorization).toContain('/eu-central-1/kms/aws4_request');
  expect(headers['x-amz-security-token']).toBe('a-session');
});

describe('KMS that fails', () => {
  it.each([
    kmsError(400, 'ThrottlingException'),
    kmsError(429, 'TooManyRequestsException'),
    kmsError(500, 'KMSInternalException'),
    { status: 503, body: '<html>' },
  ])('is asked again twice after %j', async (answer) => {
    const { account } = await open();
    let failures = 2;
    kms.calls.length = 0;
    kms.answer = () => (failures-- > 0 ? answer : undefined);
    await account.signMessage({ message: 'a' });
    expect(kms.calls).toHaveLength(3);
  });

  it.each([
    ['an error', kmsError(400, 'AccessDeniedException'), 'AccessDeniedException (400)'],
    ['bytes that are no signature', { status: 200, body: JSON.stringify({ Signature: 'AAAA' }) }, 'cannot be read'],
    ['no signature', { status: 200, body: '{}' }, 'without the value'],
    ['no JSON', { status: 200, body: '<html>' }, ''],
    ['nothing in time', 'silent', 'no answer within 200 ms'],
  ] as [string, KmsAnswer, string][])('is asked once when it answers %s', async (_what, answer, words) => {
    const { account } = await open({}, 200);
    kms.calls.length = 0;
    kms.answer = () => answer;
    const cause = expect.objectContaining({ message: expect.stringContaining(words) });
    await expect(account.signMessage({ message: 'a' })).rejects.toMatchObject({ code: 'SIGNER_UNAVAILABLE', cause });
    expect(kms.calls).toHaveLength(1);
  });

  it('opens no key of another curve, and none that it does not have', async () => {
    await expect(open({ keyId: 'alias/p256' })).rejects.toThrow('its key is not of the curve secp256k1');
    await expect(open({ keyId: 'alias/none' })).rejects.toThrow('NotFoundException (400)');
  });
});

it('calls no other host than that of the settings', async () => {
  const elsewhere = await startKms(keys);
  class Redirected extends sdk.KMSClient {
    constructor(config: ConstructorParameters<KmsSdk['KMSClient']>[0]) {
      super({ ...config, endpoint: elsewhere.url });
    }
  }
  const key = openKmsKey({ ...sdk, KMSClient: Redirected }, { keyId: ALIAS, region: 'eu-central-1', endpoint: kms.url, credentials });
  await expect(key.getPublicKey()).rejects.toThrow('may not call');
  expect(elsewhere.calls).toEqual([]);
  await elsewhere.close();
});
