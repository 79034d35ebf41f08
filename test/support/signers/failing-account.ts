import type { LocalAccount } from 'viem';
import { createRoleSigner } from '../../../src/chain/signers.ts';
import type { WalletRole } from '../../../src/chain/wallet.ts';

/** The account of a remote signer that can be down. */
export function accountOfSigner(role: WalletRole, account: LocalAccount): { account: LocalAccount; isDown: boolean; refused: number } {
  const refuse = () => {
    state.refused++;
    return Promise.reject(new Error('connect ECONNREFUSED'));
  };
  const signer = createRoleSigner(role, {
    address: account.address,
    signTransaction: (transaction) => (state.isDown ? refuse() : account.signTransaction(transaction)),
    signMessage: (message) => (state.isDown ? refuse() : account.signMessage({ message })),
    signTypedData: (data) => (state.isDown ? refuse() : account.signTypedData(data)),
    ping: () => (state.isDown ? refuse() : Promise.resolve()),
  });
  const state = { account: signer.account, isDown: false, refused: 0 };
  return state;
}
