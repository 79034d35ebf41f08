import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { WalletRole } from '../tx/wallet.ts';
import type { RoleSigner } from './role-signer.ts';

/** A key in the memory of this process. */
export function createKeySigner(role: WalletRole, privateKey: Hex): RoleSigner {
  return { role, account: privateKeyToAccount(privateKey), ping: null };
}
