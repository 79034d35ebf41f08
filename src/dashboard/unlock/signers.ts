import { requestApi } from '../state/api.ts';
import type { ApiResponses } from '../state/responses.ts';
import { LoginError, requestAccount, toHex, toLoginError } from './login.ts';
import type { Provider } from './wallets.ts';

/** Who signs texts that the service composes: a wallet of this browser, or a demo wallet of a local chain. */
export interface Signer {
  getAccount(): Promise<string>;
  sign(text: string): Promise<unknown>;
}

export function createWalletSigner(provider: Provider, preferred?: string): Signer {
  let account = preferred;
  const getAccount = async () => {
    account = await requestAccount(provider, account);
    return account;
  };
  return {
    getAccount,
    sign: async (text) => provider.request({ method: 'personal_sign', params: [toHex(text), account ?? (await getAccount())] }),
  };
}

/** Signs in the service. */
export function createDemoSigner(role: string): Signer {
  return {
    async getAccount() {
      const { demo } = await requestApi<ApiResponses['info']>('api/svc/info');
      const wallet = demo?.wallets.find((one) => one.role === role);
      if (wallet === undefined) throw new LoginError('This service has no such demo wallet.');
      return wallet.address;
    },
    async sign(message) {
      return (await requestApi<{ signature: string }>('api/demo/signature', { method: 'POST', body: { role, message } })).signature;
    },
  };
}

/** Runs what asks the wallet or the service. @throws {LoginError} */
export async function withLoginErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toLoginError(error);
  }
}
