import { discoverWallets, getInjectedProvider, INJECTED_RDNS, type Wallet } from './wallets.ts';

const WALLET_STORAGE_KEY = 'oracle-wallet';

export type WalletWatch = ReturnType<typeof watchWallet>;

interface WatchWalletOptions {
  onAccounts: (accounts: readonly string[]) => void;
  storage?: Storage;
}

/**
 * Discovers wallets and watches the one in use, across page loads too: an account change may mean another person at the screen.
 * @param options `onAccounts` gets the new accounts, in lower case
 */
export function watchWallet({ onAccounts, storage = sessionStorage }: WatchWalletOptions) {
  const listeners = new Set<() => void>();
  let watched: Wallet | null = null;
  const found = discoverWallets(() => {
    for (const listener of listeners) listener();
    resumeWatching();
  });
  found.ask();

  function watch(wallet: Wallet) {
    watched?.provider.removeListener?.('accountsChanged', onAccountsChanged);
    watched = wallet;
    wallet.provider.on?.('accountsChanged', onAccountsChanged);
  }

  function onAccountsChanged(accounts: unknown) {
    onAccounts(Array.isArray(accounts) ? accounts.map((account) => String(account).toLowerCase()) : []);
  }

  function resumeWatching() {
    const key = storage.getItem(WALLET_STORAGE_KEY);
    // A wallet used as injected provider may announce itself on the next load.
    const wallet = found.all.find(({ rdns, provider }) => rdns === key || (key === INJECTED_RDNS && provider === getInjectedProvider()));
    if (watched === null && wallet !== undefined) watch(wallet);
  }

  return {
    get all() {
      return found.all;
    },
    ask: found.ask,
    /** The wallet that has logged in, if it is still there. */
    get used() {
      return watched;
    },
    /** @param listener called for each new wallet */
    onFound(listener: () => void) {
      listeners.add(listener);
    },
    use(wallet: Wallet) {
      storage.setItem(WALLET_STORAGE_KEY, wallet.rdns);
      watch(wallet);
    },
    forget() {
      storage.removeItem(WALLET_STORAGE_KEY);
      watched?.provider.removeListener?.('accountsChanged', onAccountsChanged);
      watched = null;
    },
  };
}
