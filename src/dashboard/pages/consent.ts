import { mountTheme } from '../header/theme.ts';
import { byId, h, replaceChildren } from '../lib/dom.ts';
import { formatTier } from '../lib/format-text.ts';
import { ApiProblem, requestApi } from '../state/api.ts';
import type { LoginSession } from '../state/session.ts';
import { LoginError, logInAsDemo, logInWith, type ShowStatus } from '../unlock/login.ts';
import { STAGE_MESSAGES } from '../unlock/unlock-dialog.ts';
import { renderWalletIcon } from '../unlock/wallet-icon.ts';
import { discoverWallets, type Wallet } from '../unlock/wallets.ts';

const DEMO_ROLES = ['basic', 'premium'] as const;

mountTheme();
mountConsent();

/** The page on which a wallet allows an application to use its tier. Its session ends with the decision. */
function mountConsent() {
  const choice = byId('consent-choice');
  const id = choice.dataset.id;
  // Of a page that says why nothing can be allowed.
  if (id === undefined) return;
  const decide = createDecision(id);
  const [wallets, demo] = [h('div', {}), choice.dataset.demo === undefined ? null : renderDemoWallets(decide)];
  const draw = () => replaceChildren(wallets, renderWallets(found.all, decide));
  const found = discoverWallets(draw);
  found.ask();
  draw();
  replaceChildren(choice, wallets, demo);
  byId('consent-deny').addEventListener('click', () => void decide('deny'));
}

type LogIn = (say: ShowStatus) => Promise<LoginSession>;
type Decide = (how: LogIn | 'deny') => Promise<void>;

/** One decision at a time; after one that counts, the browser leaves the page. */
function createDecision(id: string): Decide {
  const status = byId('consent-status');
  const say: ShowStatus = (message, isProblem = false) => {
    status.textContent = message;
    status.classList.toggle('bad', isProblem);
  };
  return async (how) => {
    setBusy(true);
    try {
      const token = how === 'deny' ? undefined : (await how(say)).token;
      say('Contacting the service…');
      const decision = how === 'deny' ? 'deny' : 'allow';
      const { redirectTo } = await requestApi<{ redirectTo: string }>(`oauth/consent/${id}`, { method: 'POST', token, body: { decision } });
      say('Going back to the application…');
      location.assign(redirectTo);
    } catch (error) {
      setBusy(false);
      if (error instanceof LoginError) say(error.message, true);
      else if (error instanceof ApiProblem) say(`${error.message}. ${error.suggestedAction ?? ''}`.trim(), true);
      else throw error;
    }
  };
}

function setBusy(isBusy: boolean) {
  for (const button of byId('main').querySelectorAll('button')) button.disabled = isBusy;
}

function renderWallets(wallets: readonly Wallet[], decide: Decide) {
  if (wallets.length === 0)
    return h('p', { class: 'notice' }, 'No wallet was found in this browser. Open this page in the browser that has it.');
  const rows = wallets.map((wallet) => {
    const logIn: LogIn = (say) => logInWith(wallet.provider, (stage) => say(STAGE_MESSAGES[stage](wallet.name)));
    const label = h('span', {}, `Sign with ${wallet.name} and allow`);
    return h(
      'li',
      {},
      h('button', { type: 'button', class: 'primary', onclick: () => void decide(logIn) }, renderWalletIcon(wallet), label),
    );
  });
  return h('ul', { class: 'wallets', 'aria-label': 'Wallets of this browser' }, rows);
}

function renderDemoWallets(decide: Decide) {
  const buttons = DEMO_ROLES.map((role) =>
    h(
      'button',
      { type: 'button', class: 'primary', onclick: () => void decide(() => logInAsDemo(role)) },
      `Sign as ${formatTier(role)} and allow`,
    ),
  );
  const about = 'Demo wallets of a local chain, whose tokens have no value';
  return h(
    'div',
    { class: 'demo', role: 'group', 'aria-label': about },
    h('span', { title: about }, 'Demo wallets, local chain:'),
    buttons,
  );
}
