import { BUY_EVENT } from '../buy/buy-button.ts';
import { createBuyDialog } from '../buy/buy-dialog.ts';
import { byId, h, replaceChildren } from '../lib/dom.ts';
import { formatUtcTime, shortenHex } from '../lib/format.ts';
import { formatTier } from '../lib/format-text.ts';
import { createRelativeTime } from '../lib/relative-time.ts';
import { ApiProblem } from '../state/api.ts';
import type { Page } from '../state/page.ts';
import type { LoginSession } from '../state/session.ts';
import { createDemoButtons, getViewRole, setBuyerView, VIEW_AS_EVENT, type ViewRole } from '../unlock/demo-buttons.ts';
import { attemptLogin, endSession, isSameAccount, logInAsDemo, logInWith } from '../unlock/login.ts';
import { createUnlockButton, UNLOCK_EVENT } from '../unlock/unlock-button.ts';
import { createUnlockDialog, STAGE_MESSAGES } from '../unlock/unlock-dialog.ts';
import { type WalletWatch, watchWallet } from '../unlock/wallet-watch.ts';

/** Time before expiry from which a session can be renewed. */
const RENEWABLE_BEFORE_MS = 5 * 60_000;

/** Login button, or wallet, tier, remaining time and logout of the session. */
export function mountAccount({ session, store, horizon }: Page) {
  const notice = h('p', { class: 'account-notice', role: 'status', tabindex: -1 });
  const state = h('div', { class: 'account' });
  replaceChildren(byId('account'), state, notice);
  document.getElementById('demo')?.replaceChildren(createDemoButtons({ session, store }));
  const showNotice = (message: string) => {
    notice.textContent = message;
  };
  const wallets = watchWallet({ onAccounts: (accounts) => onAccountsChanged(accounts) });
  const leave = (message: string) => {
    wallets.forget();
    logOut(session, message, showNotice);
    notice.focus();
  };

  function onAccountsChanged(accounts: readonly string[]) {
    const { current } = session;
    if (current !== null && !accounts.includes(current.wallet.toLowerCase())) leave('The wallet switched accounts: logged out.');
  }

  const onLoggedIn = (next: LoginSession) => {
    showNotice('Logged in.');
    session.set(next);
  };
  const dialog = createUnlockDialog({ wallets, onLoggedIn, fallback: notice, getInfo: () => store.get('info').answer });
  const buying = createBuyDialog({ store, session, horizon, wallets, onNotice: showNotice });
  document.body.append(dialog.element, buying.element);
  document.addEventListener(UNLOCK_EVENT, dialog.open);
  document.addEventListener(BUY_EVENT, () => {
    dialog.close();
    buying.open();
  });
  const viewAs = createViewAs({ session, say: showNotice, leave: () => leave('Logged out.'), buy: buying.open });
  document.addEventListener(VIEW_AS_EVENT, (event) => void viewAs((event as CustomEvent<ViewRole>).detail));
  const renewByWallet = createRenewal({ session, wallets, say: showNotice, openDialog: dialog.open });
  const renew = () => {
    const info = store.get('info').answer;
    const role = info && wallets.used === null ? getViewRole(session, info) : null;
    return role === 'basic' || role === 'premium' ? viewAs(role) : renewByWallet();
  };
  function draw() {
    const { current } = session;
    const focused = state.contains(document.activeElement) ? document.activeElement?.textContent : null;
    replaceChildren(
      state,
      current === null ? createUnlockButton('Unlock') : renderSession(current, { renew, leave: () => leave('Logged out.') }),
    );
    if (session.hasEnded) showNotice('The session has ended. Unlock again to continue.');
    // Focus must not move to a button with another function.
    const same = [...state.querySelectorAll('button')].find(({ textContent }) => textContent === focused);
    if (focused !== null) (same ?? notice).focus();
  }
  session.onChange(draw);
  session.onRenewal(draw);
  draw();
  watchTokenExpiry(session, draw);
  buying.resume();
}

interface ViewAsOptions {
  session: Page['session'];
  say: (message: string) => void;
  leave: () => void;
  buy: () => void;
}

/** Logs the demo wallet of a role in, or out for a role without a session. The last choice counts. */
function createViewAs({ session, say, leave, buy }: ViewAsOptions) {
  let chosen = 0;
  return async (role: ViewRole) => {
    const ownChoice = ++chosen;
    const before = session.current;
    setBuyerView(role === 'buyer');
    if (role === 'public' || role === 'buyer') {
      if (before !== null) leave();
      if (role === 'buyer') buy();
      return;
    }
    await attemptLogin({
      login: () => logInAsDemo(role),
      counts: () => ownChoice === chosen,
      say,
      onDone(next) {
        say(`Viewing as ${formatTier(role)}.`);
        session.set(next);
        if (before !== null) endSession(before).catch(() => undefined);
      },
    });
  };
}

interface RenewalOptions {
  session: Page['session'];
  wallets: Pick<WalletWatch, 'used'>;
  say: (message: string) => void;
  openDialog: () => void;
}

/** Renews the session with the same account; open elements of the page stay open. */
export function createRenewal({ session, wallets, say: showNotice, openDialog }: RenewalOptions) {
  return async () => {
    const { current } = session;
    const wallet = wallets.used;
    if (wallet === null) return openDialog();
    await attemptLogin({
      login: (sayStage) => logInWith(wallet.provider, (stage) => sayStage(STAGE_MESSAGES[stage](wallet.name)), current?.wallet),
      // The reader may have logged out in the meantime.
      counts: () => session.current === current || session.hasEnded,
      say: showNotice,
      onDone(next) {
        showNotice(isSameAccount(next.wallet, current?.wallet) ? 'Renewed.' : 'Logged in.');
        session.set(next);
      },
    });
  };
}

/** Logs out locally first, whether or not the service answers. */
function logOut(session: Page['session'], message: string, showNotice: (message: string) => void) {
  const { current } = session;
  if (current === null) return;
  showNotice(message);
  session.set(null);
  endSession(current).catch((error) => {
    if (!(error instanceof ApiProblem)) throw error;
    // The session has already ended at the service.
    if (error.code === 'UNAUTHENTICATED') return;
    showNotice(`${message} The service could not be reached; the token expires at ${formatUtcTime(current.expiresAt)}.`);
  });
}

function renderSession({ wallet, tier, expiresAt }: LoginSession, { renew, leave }: { renew: () => void; leave: () => void }) {
  const endsSoon = Date.parse(expiresAt) - Date.now() <= RENEWABLE_BEFORE_MS;
  return [
    h('span', { class: 'tier' }, formatTier(tier)),
    h('span', { title: wallet }, shortenHex(wallet)),
    h('span', { class: 'quiet' }, 'expires ', createRelativeTime(expiresAt)),
    endsSoon && h('button', { type: 'button', onclick: renew }, 'Renew'),
    h('button', { type: 'button', onclick: leave }, 'Log out'),
  ];
}

/** Clears the session when its token expires, and redraws when it becomes renewable. */
function watchTokenExpiry(session: Page['session'], onEndNear: () => void) {
  let timers: ReturnType<typeof setTimeout>[] = [];
  const arm = (current: LoginSession | null) => {
    timers.forEach(clearTimeout);
    if (current === null) return;
    const left = Date.parse(current.expiresAt) - Date.now();
    timers = [setTimeout(session.end, Math.max(0, left)), setTimeout(onEndNear, Math.max(0, left - RENEWABLE_BEFORE_MS))];
  };
  session.onChange(arm);
  session.onRenewal(arm);
  arm(session.current);
}
