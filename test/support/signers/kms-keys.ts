import { generateKeyPairSync } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1';
import { bytesToHex, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** A new key of a curve, as KMS exports its public part: DER SubjectPublicKeyInfo. */
export function generateSpki(namedCurve: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve });
  return { spki: new Uint8Array(publicKey.export({ type: 'spki', format: 'der' })), privateKey };
}

export function generateKmsKey() {
  const { spki, privateKey } = generateSpki('secp256k1');
  const { d } = privateKey.export({ format: 'jwk' });
  const key = bytesToHex(Buffer.from(d!, 'base64url'));
  return { spki, key, address: privateKeyToAccount(key).address };
}

/** An ECDSA signature as KMS makes it: DER, with a low or a high `s`, never the same twice. */
export function signDer(key: Hex, digest: Uint8Array, form: 'low' | 'high'): Uint8Array {
  const { r, s } = secp256k1.sign(digest, key.slice(2), { lowS: true, extraEntropy: true });
  return new secp256k1.Signature(r, form === 'low' ? s : secp256k1.CURVE.n - s).toDERRawBytes();
}
