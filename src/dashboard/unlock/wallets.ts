import { truncate } from '../lib/format-text.ts';

/** Wallet discovery by EIP-6963, with `window.ethereum` as the fallback. */

/** EIP-1193. */
export interface Provider {
  request(call: { method: string; params?: unknown[] }): Promise<unknown>;
  on?(event: string, listener: (detail: unknown) => void): void;
  removeListener?(event: string, listener: (detail: unknown) => void): void;
}

export interface Wallet {
  /** Valid for one page load. */
  id: string;
  /** Permanent. */
  rdns: string;
  name: string;
  icon: string | null;
  provider: Provider;
}

const MAX_WALLETS = 20;
const MAX_NAME_CHARS = 40;
const MAX_ICON_CHARS = 200_000;
const ANNOUNCEMENT_WINDOW_MS = 500;
export const INJECTED_RDNS = 'injected';

/**
 * Collects announced wallets; some announce themselves synchronously on request.
 * @returns `ask` requests announcements, and looks for an injected provider
 */
export function discoverWallets(onChange: () => void): { readonly all: readonly Wallet[]; ask: () => void } {
  const wallets = new Map<string, Wallet>();
  addEventListener('eip6963:announceProvider', (event) => {
    const wallet = parseAnnouncement((event as CustomEvent).detail);
    if (wallet === null || wallets.has(wallet.id) || wallets.size >= MAX_WALLETS) return;
    // The same wallet, under its own name.
    wallets.delete(INJECTED_RDNS);
    wallets.set(wallet.id, wallet);
    onChange();
  });
  let hadTime = false;
  function lookForInjected() {
    const provider = getInjectedProvider();
    if (!hadTime || wallets.size > 0 || typeof provider?.request !== 'function') return;
    wallets.set(INJECTED_RDNS, { id: INJECTED_RDNS, rdns: INJECTED_RDNS, name: 'Browser wallet', icon: null, provider });
    onChange();
  }
  setTimeout(() => {
    hadTime = true;
    lookForInjected();
  }, ANNOUNCEMENT_WINDOW_MS);
  // Some wallets initialize later and dispatch this event.
  addEventListener('ethereum#initialized', lookForInjected);
  return {
    get all() {
      return [...wallets.values()];
    },
    ask() {
      dispatchEvent(new Event('eip6963:requestProvider'));
      lookForInjected();
    },
  };
}

export function getInjectedProvider(): Provider | undefined {
  return (globalThis as { ethereum?: Provider }).ethereum;
}

/** Any script can announce itself as a wallet: name and icon are bounded, and the icon must be a data URL. */
function parseAnnouncement(detail: { info?: Record<string, unknown>; provider?: Provider } | null): Wallet | null {
  const { info, provider } = detail ?? {};
  if (typeof info?.uuid !== 'string' || typeof info.name !== 'string' || typeof provider?.request !== 'function') return null;
  const icon = typeof info.icon === 'string' && /^data:image\//.test(info.icon) && info.icon.length <= MAX_ICON_CHARS ? info.icon : null;
  return {
    id: info.uuid,
    rdns: truncate(info.rdns, MAX_NAME_CHARS),
    name: truncate(info.name.trim() || 'A wallet', MAX_NAME_CHARS),
    icon,
    provider,
  };
}
