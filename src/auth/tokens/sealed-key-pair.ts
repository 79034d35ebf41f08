import { type CryptoKey, calculateJwkThumbprint, exportJWK, type GenerateKeyPairOptions, generateKeyPair, importJWK, type JWK } from 'jose';
import type { Collection, OptionalUnlessRequiredId } from 'mongodb';
import { isDuplicateKey } from '../../platform/mongo.ts';
import type { SecretBox, SecretPurpose } from '../../platform/secrets/secret-box.ts';

/** Keys of one use are numbered from 1, and the one with the highest number is active. All processes share them through the store. */
export interface NumberedKey {
  /** Counts from 1, so that of two processes that make the next key at once one has no effect. */
  _id: number;
}

/** What a use of keys differs in. */
export interface KeyUse {
  algorithm: string;
  purpose: SecretPurpose;
  /** What else the algorithm asks for. */
  options?: GenerateKeyPairOptions;
}

/** A new pair: its public JWK, the thumbprint that names it, and its private JWK sealed for that name. */
export async function createSealedKeyPair(
  { algorithm, purpose, options }: KeyUse,
  secretBox: SecretBox,
): Promise<{ jwk: JWK; kid: string; sealedPrivateJwk: string }> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { ...options, extractable: true });
  const jwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  return { jwk, kid, sealedPrivateJwk: secretBox.seal(purpose, kid, JSON.stringify(await exportJWK(privateKey))) };
}

/** @throws OracleError CONFIG_INVALID when it was sealed under another secret */
export async function openSealedKey(
  { algorithm, purpose }: KeyUse,
  { kid, sealedPrivateJwk }: { kid: string; sealedPrivateJwk: string },
  secretBox: SecretBox,
): Promise<CryptoKey> {
  return (await importJWK(JSON.parse(secretBox.open(purpose, kid, sealedPrivateJwk)) as JWK, algorithm)) as CryptoKey;
}

/** Whoever comes second gets the key of the first. */
export async function insertKey<Doc extends NumberedKey>(keys: Collection<Doc>, doc: Doc): Promise<Doc> {
  try {
    await keys.insertOne(doc as OptionalUnlessRequiredId<Doc>);
    return doc;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return (await keys.findOne({ _id: doc._id } as never)) as unknown as Doc;
  }
}
