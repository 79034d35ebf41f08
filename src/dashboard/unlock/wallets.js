import { truncate } from '../lib/format-text.js';

/** Wallets of this browser as they announce themselves (EIP-6963), or else the one that is just there; and what they are asked. */

/**
 * @typedef {{
 *   request(call: { method: string, params?: unknown[] }): Promise<any>,
 *   on?(event: string, listener: (detail: any) => void): void,
 *   removeListener?(event: string, listener: (detail: any) => void): void,
 * }} Provider EIP-1193
 */

/** @typedef {{ id: string, rdns: string, name: string, icon: string | null, provider: Provider }} Wallet `id` is of this load of the page, `rdns` lasts */

const MAX_WALLETS = 20;
const MAX_NAME_CHARS = 40;
const MAX_ICON_CHARS = 200_000;
/** How long wallets have to announce themselves. */
const ANNOUNCEMENT_WINDOW_MS = 500;
export const INJECTED_RDNS = 'injected';

/**
 * Wallets that have announced themselves so far; `onChange` is called when one more does, which some do as soon as they are asked.
 * @param {() => void} onChange
 * @returns {{ readonly all: readonly Wallet[], ask: () => void }} `ask` has them announce themselves, and looks again for one that does not
 */
export function discoverWallets(onChange) {
  /** @type {Map<string, Wallet>} */
  const wallets = new Map();
  addEventListener('eip6963:announceProvider', (event) => {
    const wallet = parseAnnouncement(/** @type {CustomEvent} */ (event).detail);
    if (wallet === null || wallets.has(wallet.id) || wallets.size >= MAX_WALLETS) return;
    // It says itself what it is called.
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
  // Some come later than that, and say so by this.
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

/** What a wallet has put there, if it is one. @returns {any} */
export function getInjectedProvider() {
  return /** @type {any} */ (globalThis).ethereum;
}

/**
 * Anything in the page's process can announce itself as anything: what is shown of it is bounded, and its icon must be a picture that it
 * brings along.
 * @param {any} detail
 * @returns {Wallet | null}
 */
function parseAnnouncement(detail) {
  const { info, provider } = detail ?? {};
  if (typeof info?.uuid !== 'string' || typeof info.name !== 'string' || typeof provider?.request !== 'function') return null;
  const isPicture = typeof info.icon === 'string' && /^data:image\//.test(info.icon) && info.icon.length <= MAX_ICON_CHARS;
  return {
    id: info.uuid,
    rdns: truncate(info.rdns, MAX_NAME_CHARS),
    name: truncate(info.name.trim() || 'A wallet', MAX_NAME_CHARS),
    icon: isPicture ? info.icon : null,
    provider,
  };
}
