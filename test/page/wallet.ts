import type { Page } from 'playwright-core';
import type { PrivateKeyAccount } from 'viem/accounts';

/** A browser wallet that announces itself by EIP-6963 and signs in this process, or declines. */
export interface PageWallet {
  name: string;
  account: PrivateKeyAccount;
  icon?: string;
  /** Listed before the signing account. */
  before?: PrivateKeyAccount;
  /** Delays the signature. */
  maySign?: Promise<void>;
  /** The reader declines to sign. */
  declines?: boolean;
  /** No announcement, only `window.ethereum`. */
  isSilent?: boolean;
}

const PICTURE = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=';

type Answer = { result: unknown } | { error: { code: number; message: string } };

/** Injects wallets before the page loads. `turnTo(name, accounts)` switches the accounts of one. */
export async function installWallets(page: Page, wallets: readonly PageWallet[]): Promise<void> {
  const byName = new Map(wallets.map((wallet) => [wallet.name, wallet]));
  await page.exposeFunction('askWallet', (name: string, method: string, params: string[] = []) =>
    answer(byName.get(name)!, method, params),
  );
  const shown = wallets.map(({ name, icon = PICTURE, isSilent = false }, index) => ({
    name,
    icon,
    isSilent,
    rdns: `wallet${index}.example`,
  }));
  await page.addInitScript(announce, shown);
}

async function answer({ account, before, maySign, declines = false }: PageWallet, method: string, [text, data]: string[]): Promise<Answer> {
  const accounts = before === undefined ? [account] : [before, account];
  if (method === 'eth_requestAccounts' || method === 'eth_accounts')
    return { result: accounts.map(({ address }) => address.toLowerCase()) };
  if (method === 'eth_chainId') return { result: '0x14a34' };
  if (method !== 'personal_sign' && method !== 'eth_signTypedData_v4') {
    return { error: { code: 4200, message: `${method} is not there` } };
  }
  if (declines) return { error: { code: 4001, message: 'User rejected the request.' } };
  await maySign;
  if (method === 'eth_signTypedData_v4') return { result: await account.signTypedData(JSON.parse(data!)) };
  return { result: await account.signMessage({ message: { raw: text as `0x${string}` } }) };
}

/** Runs in the page. */
function announce(wallets: { name: string; icon: string; isSilent: boolean; rdns: string }[]): void {
  // biome-ignore lint/suspicious/noExplicitAny: the page's own window
  const page = window as any;
  const listeners = new Map<string, ((accounts: string[]) => void)[]>();
  page.turnTo = (name: string, accounts: string[]) => {
    for (const listener of listeners.get(name) ?? []) listener(accounts);
  };
  for (const { name, icon, isSilent, rdns } of wallets) {
    const provider = {
      async request({ method, params }: { method: string; params?: string[] }) {
        const answered = await page.askWallet(name, method, params);
        if (answered.error) throw Object.assign(new Error(answered.error.message), answered.error);
        return answered.result;
      },
      on: (_event: string, listener: (accounts: string[]) => void) => void listeners.set(name, [...(listeners.get(name) ?? []), listener]),
    };
    if (isSilent) {
      page.ethereum = provider;
      continue;
    }
    const detail = Object.freeze({ info: Object.freeze({ uuid: crypto.randomUUID(), name, icon, rdns }), provider });
    const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
    addEventListener('eip6963:requestProvider', announce);
    announce();
  }
}
