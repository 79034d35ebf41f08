import {
  type Address,
  getTypesForEIP712Domain,
  type Hex,
  hashMessage,
  hashTypedData,
  hexToBigInt,
  isHex,
  keccak256,
  numberToHex,
  serializeSignature,
  serializeTransaction,
  serializeTypedData,
  size,
  slice,
  type TransactionSerializableEIP1559,
} from 'viem';
import { z } from 'zod';
import { SignerRefusal, type SigningBackend } from './role-signer.ts';
import { readSignature } from './signed-transaction.ts';
import { type EcdsaSignature, toWalletSignature } from './wallet-signature.ts';
import type { CallWeb3Signer } from './web3signer-rpc.ts';

const ACCOUNTS = z.array(z.string());
const SIGNATURE_BYTES = 65;

/** A Web3Signer. What it signs is checked field by field, and against the wallet: a signer that is wrong or lies gets nothing sent. */
export function createWeb3SignerBackend(call: CallWeb3Signer, address: Address): SigningBackend {
  return {
    address,
    async signTransaction(transaction) {
      const raw = requireHex(await call('eth_signTransaction', [toRpcTransaction(transaction, address)]));
      const signature = readSignature(raw, transaction);
      return serializeTransaction(transaction, await toWalletSignature(signature, keccak256(serializeTransaction(transaction)), address));
    },
    async signMessage(message) {
      // It prefixes the message by EIP-191 itself.
      const signature = splitSignature(await call('eth_sign', [address, message.raw]));
      return serializeSignature(await toWalletSignature(signature, hashMessage(message), address));
    },
    async signTypedData(data) {
      const types = { EIP712Domain: getTypesForEIP712Domain({ domain: data.domain }), ...data.types };
      // The second parameter is a JSON text, not an object.
      const signature = splitSignature(await call('eth_signTypedData', [address, serializeTypedData({ ...data, types })]));
      return serializeSignature(await toWalletSignature(signature, hashTypedData(data), address));
    },
    async ping() {
      const accounts = ACCOUNTS.safeParse(await call('eth_accounts', []));
      if (!accounts.success || !accounts.data.some((account) => account.toLowerCase() === address.toLowerCase()))
        throw new SignerRefusal('eth_accounts: the wallet is not among the accounts');
    },
  };
}

/** Its own chain id applies; it is checked in the answer. */
function toRpcTransaction(transaction: TransactionSerializableEIP1559, from: Address): Record<string, string> {
  const { to, data, nonce = 0, value = 0n, gas = 0n, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = transaction;
  if (!to) throw new Error('a transaction of a wallet has a receiver');
  const numbers = { nonce: BigInt(nonce), value, gas, maxFeePerGas, maxPriorityFeePerGas };
  const fields = Object.entries(numbers).map(([name, number]) => [name, numberToHex(number)]);
  return { from, to, data: data ?? '0x', ...Object.fromEntries(fields) };
}

function splitSignature(answer: unknown): EcdsaSignature {
  const hex = requireHex(answer);
  if (size(hex) !== SIGNATURE_BYTES) throw new SignerRefusal('its signature has not 65 bytes');
  return { r: hexToBigInt(slice(hex, 0, 32)), s: hexToBigInt(slice(hex, 32, 64)) };
}

function requireHex(answer: unknown): Hex {
  if (!isHex(answer)) throw new SignerRefusal('its answer is no hex text');
  return answer;
}
