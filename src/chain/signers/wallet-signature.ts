import { createPublicKey, type KeyObject } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1';
import { type Address, bytesToHex, concatHex, type Hex, isAddressEqual, numberToHex, recoverAddress, type Signature } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import { SignerRefusal } from './role-signer.ts';

export interface EcdsaSignature {
  r: bigint;
  s: bigint;
}

/** @param spki public key as DER SubjectPublicKeyInfo (RFC 5480) @throws SignerRefusal unless it is a key of secp256k1 */
export function toWalletAddress(spki: Uint8Array): Address {
  const key = parsePublicKey(spki);
  if (key.asymmetricKeyDetails?.namedCurve !== 'secp256k1') throw new SignerRefusal('its key is not of the curve secp256k1');
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  return publicKeyToAddress(concatHex(['0x04', ...[x, y].map((text) => bytesToHex(Buffer.from(text, 'base64url')))]));
}

/** @param der ECDSA-Sig-Value (RFC 3279) @throws SignerRefusal */
export function parseDerSignature(der: Uint8Array): EcdsaSignature {
  try {
    const { r, s } = secp256k1.Signature.fromDER(der);
    return { r, s };
  } catch (cause) {
    throw new SignerRefusal('its signature cannot be read', { cause });
  }
}

/** With the low `s` that nodes require (EIP-2) and the recovery id by which the wallet is recovered. @throws SignerRefusal for another's signature */
export async function toWalletSignature({ r, s }: EcdsaSignature, hash: Hex, wallet: Address): Promise<Signature> {
  const order = secp256k1.CURVE.n;
  const low = s > order / 2n ? order - s : s;
  for (const yParity of [0, 1]) {
    const signature = { r: numberToHex(r, { size: 32 }), s: numberToHex(low, { size: 32 }), yParity };
    const signer = await recoverAddress({ hash, signature }).catch(() => null);
    if (signer !== null && isAddressEqual(signer, wallet)) return signature;
  }
  throw new SignerRefusal('its signature is not of the wallet, or of something else');
}

function parsePublicKey(spki: Uint8Array): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  } catch (cause) {
    throw new SignerRefusal('its public key cannot be read', { cause });
  }
}
