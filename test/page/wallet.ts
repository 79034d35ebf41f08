import type { Page } from 'playwright-core';
import type { PrivateKeyAccount } from 'viem/accounts';

/** A wallet of the browser: it announces itself by EIP-6963 and signs in this process, or refuses to. */
export interface PageWallet {
  name: string;
  account: PrivateKeyAccount;
  icon?: string;
  /** Named before the account that signs. */
  before?: PrivateKeyAccount;
  /** It signs no sooner than this. */
  maySign?: Promise<void>;
  /** True: the reader declines to sign. */
  declines?: boolean;
  /** True: it announces nothing, and is only there as `window.ethereum`. */
  isSilent?: boolean;
}

const PICTURE = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=';

type Answer = { result: unknown } | { error: { code: number; message: string } };

/** Puts wallets into a page before it is loaded. `turnTo(name, accounts)` in the page has one turn to other accounts. */
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

async function answer({ account, before, maySign, declines = false }: PageWallet, method: string, [text]: string[]): Promise<Answer> {
  const accounts = before === undefined ? [account] : [before, account];
  if (method === 'eth_requestAccounts') return { result: accounts.map(({ address }) => address.toLowerCase()) };
  if (method !== 'personal_sign') return { error: { code: 4200, message: `${method} is not there` } };
  if (declines) return { error: { code: 4001, message: 'User rejected the request.' } };
  await maySign;
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
    const tell = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
    addEventListener('eip6963:requestProvider', tell);
    tell();
  }
}
