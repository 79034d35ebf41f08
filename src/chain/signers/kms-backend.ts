import {
  type Hex,
  hashMessage,
  hashTypedData,
  hexToBytes,
  isAddressEqual,
  keccak256,
  serializeSignature,
  serializeTransaction,
} from 'viem';
import { retryBusy } from './retry-busy.ts';
import { SignerRefusal, type SigningBackend } from './role-signer.ts';
import { parseDerSignature, toWalletAddress, toWalletSignature } from './wallet-signature.ts';

/** One asymmetric key of AWS KMS. Rejects with `SignerBusy`, `SignerRefusal`, or the error of a request without an answer. */
export interface KmsKey {
  /** The public key as DER SubjectPublicKeyInfo. */
  getPublicKey(): Promise<Uint8Array>;
  /** @param digest 32 bytes @returns a DER ECDSA signature */
  sign(digest: Uint8Array): Promise<Uint8Array>;
}

/** Reads the public key, whose address is the wallet's. Only hashes are sent to KMS. */
export async function openKmsBackend(key: KmsKey): Promise<SigningBackend> {
  const readAddress = async () => toWalletAddress(await retryBusy(() => key.getPublicKey()));
  const address = await readAddress();
  const signHash = async (hash: Hex) => {
    const der = await retryBusy(() => key.sign(hexToBytes(hash)));
    return toWalletSignature(parseDerSignature(der), hash, address);
  };
  return {
    address,
    signTransaction: async (transaction) => serializeTransaction(transaction, await signHash(keccak256(serializeTransaction(transaction)))),
    signMessage: async (message) => serializeSignature(await signHash(hashMessage(message))),
    signTypedData: async (data) => serializeSignature(await signHash(hashTypedData(data))),
    async ping() {
      if (!isAddressEqual(await readAddress(), address)) throw new SignerRefusal('it has another key now');
    },
  };
}
