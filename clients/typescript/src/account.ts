import type { TransferTypedData } from '../../../src/payer/payment-signer.ts';
import { OracleError } from './errors.ts';

type Hex = `0x${string}`;

/** A wallet: any account of viem, or its address with the functions that it needs. Keys stay where they are. */
export interface OracleAccount {
  address: Hex;
  /** EIP-191, for a login. */
  signMessage?(message: { message: string }): Promise<Hex>;
  /** EIP-712, for a payment. */
  signTypedData?(data: TransferTypedData): Promise<Hex>;
}

type AccountWith<Method extends 'signMessage' | 'signTypedData'> = OracleAccount & Required<Pick<OracleAccount, Method>>;

/** @throws OracleError CONFIG_INVALID for a missing account or function */
export function requireAccount<Method extends 'signMessage' | 'signTypedData'>(
  account: OracleAccount | undefined,
  method: Method,
): AccountWith<Method> {
  if (account?.[method] !== undefined) return account as AccountWith<Method>;
  const purpose = method === 'signMessage' ? 'a login' : 'a payment';
  throw new OracleError('CONFIG_INVALID', `account.${method} is required for ${purpose}`, {
    field: 'account',
    suggestedAction: 'Pass an account of viem to createOracleClient, such as privateKeyToAccount(key).',
  });
}
