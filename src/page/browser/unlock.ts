import { el, formatCount, type Markup } from '../markup.ts';
import { ApiProblem, type LoginSession, requestApi } from './api.ts';
import { truncate } from './dom.ts';
import type { ApiResponses } from './responses.ts';

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
    if (error instanceof LoginError) throw error;
    const message = error instanceof ApiProblem ? formatLoginProblem(error) : formatWalletError(error as { code?: number });
    throw new LoginError(message, { cause: error });
  }
}

export type ShowStatus = (message: string, isProblem?: boolean) => void;

/** Logs in with a wallet and names each step. @throws {LoginError} */
export function logInByWallet({ name, provider }: Wallet, say: ShowStatus, preferred?: string): Promise<LoginSession> {
  return logInWith(provider, (stage) => say(STAGE_MESSAGES[stage](name)), preferred);
}

/** Provider error codes (EIP-1193, EIP-1474). */
export const USER_REJECTED_REQUEST = 4001;
const REQUEST_PENDING = -32002;

const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/;

/** A failed login; the message is shown to the reader. */
export class LoginError extends Error {}

/**
 * Signs `Verify svc balance: <wallet>:<timestamp>`, which moves no funds.
 * @param onStage current step
 * @param preferred account to use if the wallet offers it; otherwise the first
 * @throws {LoginError}
 */
export async function logInWith(
  provider: Provider,
  onStage: (stage: 'connect' | 'sign' | 'check') => void,
  preferred?: string,
): Promise<LoginSession> {
  return withLoginErrors(async () => {
    onStage('connect');
    const wallet = await requestAccount(provider, preferred);
    onStage('sign');
    const timestamp = Date.now();
    const text = toHex(`Verify svc balance: ${wallet}:${timestamp}`);
    const signature = await provider.request({ method: 'personal_sign', params: [text, wallet] });
    onStage('check');
    return requestSession('api/svc/oracle/verify', { wallet, signature, timestamp });
  });
}

async function requestAccount(provider: Provider, preferred?: string): Promise<string> {
  const accounts = (await provider.request({ method: 'eth_requestAccounts' })) as readonly unknown[];
  const account = accounts.find((one) => isSameAccount(one, preferred)) ?? accounts[0];
  if (typeof account !== 'string' || !ADDRESS_PATTERN.test(account)) throw new LoginError('The wallet returned no account.');
  return account;
}

/** Logs a demo wallet of a local chain in, which signs in the service. @throws {LoginError} */
export function logInAsDemo(role: string): Promise<LoginSession> {
  return withLoginErrors(() => requestSession('api/demo/login', { role }));
}

async function requestSession(path: string, body: object): Promise<LoginSession> {
  const { token, wallet, tier, expiresAt } = await requestApi<LoginSession>(path, { method: 'POST', body });
  return { token, wallet, tier, expiresAt };
}

/** Starts a session with a token issued elsewhere, after the service has accepted it. @throws {LoginError} */
export async function logInWithToken(text: string): Promise<LoginSession> {
  const token = text.trim().replace(/^Bearer\s+/i, '');
  const session = parseTokenClaims(token);
  if (session === null) throw new LoginError('This is not an access token: it must have three parts separated by dots.');
  if (Date.parse(session.expiresAt) <= Date.now()) throw new LoginError('This token has expired. Tokens last 30 minutes.');
  await withLoginErrors(() => requestApi('api/svc/info', { token }));
  return session;
}

/** @throws {ApiProblem} */
export function endSession({ token }: LoginSession) {
  return requestApi('api/svc/oracle/session', { method: 'DELETE', token });
}

/**
 * Runs a login and reports its status while `counts()` holds. A wallet session that completes later is ended at once, as nothing uses it.
 */
export async function attemptLogin(attempt: {
  login: (say: ShowStatus) => Promise<LoginSession>;
  counts: () => boolean;
  say: ShowStatus;
  onDone: (session: LoginSession) => void;
  isByToken?: boolean;
}) {
  const { login, counts, say, onDone, isByToken } = attempt;
  const sayIfItCounts: ShowStatus = (message, isProblem) => counts() && say(message, isProblem);
  try {
    const session = await login(sayIfItCounts);
    if (counts()) onDone(session);
    else if (!isByToken) await endSession(session);
  } catch (error) {
    if (error instanceof LoginError) sayIfItCounts(error.message, true);
    // If the service cannot be reached, the session expires by itself.
    else if (!(error instanceof ApiProblem)) throw error;
  }
}

export function isSameAccount(one: unknown, other: string | undefined) {
  return String(one).toLowerCase() === other?.toLowerCase();
}

/** Unverified claims; the service verifies the token. */
function parseTokenClaims(token: string): LoginSession | null {
  try {
    const [, payload, signature] = token.split('.');
    if (!signature || !/^[\w.-]{1,2048}$/.test(token)) return null;
    const { sub, tier, exp } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
    return ADDRESS_PATTERN.test(sub) ? { token, wallet: sub, tier: String(tier), expiresAt: new Date(exp * 1_000).toISOString() } : null;
  } catch {
    return null;
  }
}

function formatLoginProblem({ code, message, suggestedAction, retryAfterSeconds, facts }: ApiProblem) {
  if (code === 'TIER_REQUIRED' && facts.requiredBalance !== null) return formatBalanceTooLow(facts);
  if (code === 'RATE_LIMITED') return `Too many attempts. Try again in ${retryAfterSeconds ?? 60} seconds.`;
  if (code === 'UNAUTHENTICATED' && facts.field === 'timestamp') return formatClockSkew(facts);
  if (code === 'UNAUTHENTICATED' && facts.field === 'Authorization') return `The service rejects this token: ${message}.`;
  return `${message}. ${suggestedAction ?? ''}`.trim();
}

function formatBalanceTooLow({ balance, requiredBalance }: Record<string, unknown>) {
  const required = Number(requiredBalance);
  const held = Math.floor(Number(balance ?? 0));
  return `This wallet holds ${formatCount(held)} gate tokens; the Basic tier requires ${formatCount(required)}. ${formatCount(required - held)} are missing.`;
}

function formatClockSkew({ serverTime }: Record<string, unknown>) {
  const minutes = Math.round((Date.now() - Date.parse(String(serverTime))) / 60_000);
  const off = `${Math.abs(minutes)} minutes ${minutes > 0 ? 'ahead of' : 'behind'}`;
  return `The clock of this device is ${off} that of the service, and at most 5 minutes are allowed. Correct it and sign again.`;
}

export function formatWalletError({ code }: { code?: number }) {
  if (code === USER_REJECTED_REQUEST) return 'You declined in the wallet. Nothing was signed or sent.';
  if (code === REQUEST_PENDING) return 'A request is already open in the wallet. Answer it there.';
  return 'The wallet did not sign. Unlock it and try again, or use another wallet.';
}

/** Hex-encoded UTF-8, as `personal_sign` takes it. */
function toHex(text: string) {
  return `0x${[...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

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
const INJECTED_RDNS = 'injected';

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

function getInjectedProvider(): Provider | undefined {
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

const WALLET_STORAGE_KEY = 'oracle-wallet';

export type WalletWatch = ReturnType<typeof watchWallet>;

/**
 * Discovers wallets and watches the one in use, across page loads too: an account change may mean another person at the screen.
 * @param options `onAccounts` gets the new accounts, in lower case
 */
export function watchWallet(options: { onAccounts: (accounts: readonly string[]) => void; storage?: Storage }) {
  const { onAccounts, storage = sessionStorage } = options;
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

/** Bubbling event that opens the login dialog. */
export const UNLOCK_EVENT = 'oracle-unlock';

/** @param event opens the dialog */
export function createDialogButton(label: string, event: string, className?: string) {
  const open = ({ currentTarget }: Event) => currentTarget?.dispatchEvent(new Event(event, { bubbles: true }));
  return el('button', { type: 'button', class: className, 'aria-haspopup': 'dialog', onclick: open }, label);
}

/** @param none said where there is no wallet */
export function renderWallets(wallets: readonly Wallet[], none: string, renderButton: (wallet: Wallet) => Markup) {
  if (wallets.length === 0) return el('p', { class: 'notice' }, none);
  const rows = wallets.map((wallet) => el('li', {}, renderButton(wallet)));
  return el('ul', { class: 'wallets', 'aria-label': 'Wallets of this browser' }, rows);
}

export function renderWalletIcon({ icon, name }: Wallet) {
  if (icon === null) return el('span', { class: 'no-icon', 'aria-hidden': 'true' }, name.slice(0, 1));
  return el('img', { src: icon, alt: '', width: 28, height: 28 });
}

/** By login step. */
const STAGE_MESSAGES = {
  connect: (name: string) => `Choose an account in ${name}.`,
  sign: (name: string) => `Sign the message in ${name}.`,
  check: () => 'Checking signature and balance…',
};
