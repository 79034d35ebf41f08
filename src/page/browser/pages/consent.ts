import { el } from '../../markup.ts';
import { requestApi } from '../api.ts';
import { byId, createSay, formatTier, h, mountTheme, replaceChildren } from '../dom.ts';
import {
  createDemoSigner,
  createWalletSigner,
  discoverWallets,
  LoginError,
  renderWalletIcon,
  renderWallets,
  type ShowStatus,
  type Signer,
  type Wallet,
  withLoginErrors,
} from '../unlock.ts';

mountTheme();
mountConsent();

/** The page on which a wallet allows an application to use its tier. */
function mountConsent() {
  const choice = byId('consent-choice');
  const id = choice.dataset.id;
  // Of a page that says why nothing can be allowed.
  if (id === undefined) return;
  const decide = createDecision(id);
  const [wallets, demo] = [h('div', {}), choice.dataset.demo === undefined ? null : renderDemoWallets(decide)];
  const none = 'No wallet was found in this browser. Open this page in the browser that has it.';
  const draw = () => replaceChildren(wallets, renderWallets(found.all, none, renderButton));
  const renderButton = (wallet: Wallet) => {
    const signer = createWalletSigner(wallet.provider);
    const label = [renderWalletIcon(wallet), el('span', {}, `Sign with ${wallet.name} and allow`)];
    return el('button', { type: 'button', class: 'primary', onclick: () => void decide(signer) }, label);
  };
  const found = discoverWallets(draw);
  found.ask();
  draw();
  replaceChildren(choice, wallets, demo);
  byId('consent-deny').addEventListener('click', () => void decide('deny'));
}

type Decide = (how: Signer | 'deny') => Promise<void>;

/** One decision at a time; after one that counts, the browser leaves the page. */
function createDecision(id: string): Decide {
  const say = createSay(byId('consent-status'));
  return async (how) => {
    setBusy(true);
    try {
      const decision = () => (how === 'deny' ? decide<{ redirectTo: string }>(id, { decision: 'deny' }) : allow(id, how, say));
      const { redirectTo } = await withLoginErrors(decision);
      say('Going back to the application…');
      location.assign(redirectTo);
    } catch (error) {
      setBusy(false);
      if (!(error instanceof LoginError)) throw error;
      say(error.message, true);
    }
  };
}

/** The service composes a text that names the application, which the wallet signs. */
async function allow(id: string, signer: Signer, say: ShowStatus): Promise<{ redirectTo: string }> {
  say('Choose an account in the wallet.');
  const wallet = await signer.getAccount();
  const { message } = await decide<{ message: string }>(id, { decision: 'sign', wallet });
  say('Sign the text in the wallet.');
  const signature = await signer.sign(message);
  say('Checking signature and balance…');
  return decide(id, { decision: 'allow', message, signature });
}

function decide<Answer>(id: string, body: object): Promise<Answer> {
  return requestApi<Answer>(`oauth/consent/${id}`, { method: 'POST', body });
}

function setBusy(isBusy: boolean) {
  for (const button of byId('main').querySelectorAll('button')) button.disabled = isBusy;
}

function renderDemoWallets(decide: Decide) {
  const buttons = ['basic', 'premium'].map((role) => {
    const onclick = () => void decide(createDemoSigner(role));
    return el('button', { type: 'button', class: 'primary', onclick }, `Sign as ${formatTier(role)} and allow`);
  });
  const about = 'Demo wallets of a local chain, whose tokens have no value';
  const title = el('span', { title: about }, 'Demo wallets, local chain:');
  return el('div', { class: 'demo', role: 'group', 'aria-label': about }, title, buttons);
}
