import {
  type Address,
  bytesToHex,
  getAddress,
  type Hex,
  type LocalAccount,
  type SignableMessage,
  stringToHex,
  type TransactionSerializableEIP1559,
  type TypedDataDefinition,
} from 'viem';
import { toAccount } from 'viem/accounts';
import { getErrorMessage, isOracleError, OracleError } from '../../platform/errors.ts';
import type { WalletRole } from '../tx/wallet.ts';

/** What every kind of signer does. Rejects with `SignerRefusal` for an answer that is no valid signature, with any other error without one. */
export interface SigningBackend {
  readonly address: Address;
  /** @returns the signed transaction, serialized */
  signTransaction(transaction: TransactionSerializableEIP1559): Promise<Hex>;
  /** Signs `hashMessage(message)` (EIP-191). */
  signMessage(message: { raw: Hex }): Promise<Hex>;
  signTypedData(data: TypedDataDefinition): Promise<Hex>;
  /** Asks for the key without signing. */
  ping(): Promise<void>;
}

/** The signer of a role's wallet. */
export interface RoleSigner {
  readonly role: WalletRole;
  /** Signs EIP-1559 transactions only. @throws OracleError SIGNER_UNAVAILABLE */
  readonly account: LocalAccount;
  /** Null for a key in this process, which always answers. @throws OracleError SIGNER_UNAVAILABLE */
  readonly ping: (() => Promise<void>) | null;
}

/** The signer answered, but with an error or with something that is not the signature. The message is for the operator. */
export class SignerRefusal extends Error {
  override readonly name = 'SignerRefusal';
}

export function createRoleSigner(role: WalletRole, backend: SigningBackend): RoleSigner {
  const account = toAccount({
    // The journal finds the transactions of a wallet by this spelling, whichever signer it has.
    address: getAddress(backend.address),
    signTransaction: (transaction) =>
      signerCall(role, () => backend.signTransaction(requireEip1559(transaction as TransactionSerializableEIP1559))),
    signMessage: ({ message }) => signerCall(role, () => backend.signMessage({ raw: toRawMessage(message) })),
    signTypedData: (data) => signerCall(role, () => backend.signTypedData(data as TypedDataDefinition)),
  });
  return { role, account, ping: () => signerCall(role, () => backend.ping()) };
}

/** Wraps an error of a signer once. Clients read the message: text of the signer goes into the cause only. @throws OracleError SIGNER_UNAVAILABLE */
export async function signerCall<T>(role: WalletRole, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (isOracleError(cause)) throw cause;
    const failure = cause instanceof SignerRefusal ? 'gives no valid signature' : 'does not answer';
    throw new OracleError('SIGNER_UNAVAILABLE', `The signer of the ${role} ${failure}`, {
      suggestedAction: 'Retry later; if it persists, check the signer.',
      retryAfterSeconds: 5,
      cause: cause instanceof Error ? cause : new Error(getErrorMessage(cause)),
    });
  }
}

function requireEip1559(transaction: TransactionSerializableEIP1559): TransactionSerializableEIP1559 {
  if (transaction.type !== 'eip1559') throw new Error('signers sign EIP-1559 transactions only');
  return transaction;
}

function toRawMessage(message: SignableMessage): Hex {
  if (typeof message === 'string') return stringToHex(message);
  return typeof message.raw === 'string' ? message.raw : bytesToHex(message.raw);
}
