import { getDefaultEndpoint } from '../chain/endpoint-form.ts';
import { type Children, h, replaceChildren } from '../lib/dom.ts';
import { toSentence } from '../lib/format-text.ts';
import { ApiProblem } from '../state/api.ts';
import type { Page } from '../state/page.ts';
import type { ApiResponses } from '../state/responses.ts';
import type { WalletWatch } from '../unlock/wallet-watch.ts';
import { signWithWallet } from './authorization.ts';
import { renderBoughtCall } from './bought-call.ts';
import { checkPurchase } from './check-purchase.ts';
import { deliverPayment, signAsDemoBuyer } from './deliver.ts';
import { formatPurchase } from './messages.ts';
import { createPurchase, type PaidAnswer, type Purchase } from './purchase.ts';
import { fetchSeller, fetchTerms, getPaidPath, type PaymentTerms } from './terms.ts';
import { renderTerms } from './terms-view.ts';

interface BuyDialogOptions extends Pick<Page, 'store' | 'session' | 'horizon'> {
  wallets: WalletWatch;
  /** A payment of an earlier page load is finished, while the dialog is closed. */
  onNotice: (message: string) => void;
}

type Info = ApiResponses['info'];

/** Sells the newest call of the chosen horizon: terms, payment, then the call with its receipt. */
export function createBuyDialog({ store, session, horizon, wallets, onNotice }: BuyDialogOptions) {
  const body = h('div', {});
  const status = h('p', { class: 'unlock-status', role: 'status' });
  const element = h('dialog', { class: 'unlock buy', 'aria-labelledby': 'buy-title' }, [
    h('h2', { id: 'buy-title', tabindex: -1 }, 'Buy this call'),
    body,
    status,
    h('div', { class: 'unlock-end' }, h('button', { type: 'button', onclick: () => element.close() }, 'Close')),
  ]);
  const purchases = new Map<string, Purchase>();
  let terms: PaymentTerms | null = null;

  const getInfo = () => store.get('info').answer;
  const say = (text: string, isProblem = false) => {
    status.textContent = text;
    status.classList.toggle('bad', isProblem);
  };

  /** The purchase of the chosen horizon; each has one. */
  function getPurchase(): Purchase {
    const path = getPaidPath(horizon.value);
    const known = purchases.get(path);
    if (known !== undefined) return known;
    const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
    const purchase = createPurchase({ path, storage: localStorage, deliver: (payment) => deliverPayment(path, payment), pause });
    purchases.set(path, purchase);
    const bought = readBought(path);
    if (bought !== null) purchase.restore(bought);
    purchase.onChange(() => {
      const { state } = purchase;
      if (state.step === 'bought') sessionStorage.setItem(getBoughtKey(path), JSON.stringify(state.answer));
      if (state.step === 'bought' && !element.open) onNotice('The call that you paid for has arrived: Buy this call shows it.');
      if (purchase === getPurchase()) draw();
    });
    return purchase;
  }

  function draw() {
    const [{ state }, info] = [getPurchase(), getInfo()];
    const { text, isProblem } = formatPurchase(state);
    say(text, isProblem);
    if (info === null) return;
    if (state.step === 'bought') return drawBought(state.answer, info);
    if (terms !== null) replaceChildren(body, renderTerms(terms, info.chain), renderActions(terms, info));
  }

  function drawBought(answer: PaidAnswer, info: Info) {
    const { chain } = info;
    const check = async () => {
      const { signer } = await fetchSeller();
      const endpoint = getDefaultEndpoint(chain, document.baseURI);
      return checkPurchase(answer, { chainId: chain.id, seller: signer, endpoint });
    };
    const isOld = answer.predictionId !== store.get('signal').answer?.predictionId;
    const again = isOld && h('p', {}, h('button', { type: 'button', onclick: () => void startAgain() }, 'Buy the newest call'));
    replaceChildren(body, renderBoughtCall(answer, { explorerUrl: chain.explorerUrl, check }), again);
    if (element.open) (body.querySelector('.call-word') as HTMLElement).focus();
  }

  function startAgain() {
    sessionStorage.removeItem(getBoughtKey(getPaidPath(horizon.value)));
    getPurchase().reset();
    return loadTerms();
  }

  function renderActions(current: PaymentTerms, info: Info): Children {
    const purchase = getPurchase();
    const { step } = purchase.state;
    if (step === 'signing' || step === 'paying') return h('progress', { 'aria-label': 'Payment' });
    if (step === 'unknown') return renderButton('Ask again', () => purchase.resume());
    if (step === 'used') return renderButton('Forget this payment', async () => purchase.forget());
    const days = horizon.value;
    const price = `${current.usd} USD`;
    const demo =
      info.demo !== null &&
      renderButton(`Pay ${price} as the demo buyer`, () => purchase.pay('demo', () => signAsDemoBuyer(days, current)));
    const own = wallets.all.map(({ name, rdns, provider }) =>
      renderButton(`Pay ${price} with ${name}`, () => purchase.pay(rdns, () => signWithWallet(provider, current, session.current?.wallet))),
    );
    return [demo, own, !demo && own.length === 0 && renderNoWallet()];
  }

  async function loadTerms() {
    terms = null;
    replaceChildren(body);
    say('Asking for the terms…');
    const days = horizon.value;
    try {
      const loaded = await fetchTerms(getPaidPath(days), await store.whenAnswered('info'));
      if (days !== horizon.value) return;
      terms = loaded;
      draw();
    } catch (error) {
      explain(error);
    }
  }

  function explain(error: unknown) {
    if (!(error instanceof ApiProblem)) reportError(error);
    say(error instanceof ApiProblem ? toSentence(error.message) : 'The terms of the service cannot be read.', true);
  }

  wallets.onFound(() => element.open && draw());
  return {
    element,
    open() {
      wallets.ask();
      if (!element.open) element.showModal();
      if (getPurchase().state.step === 'bought') store.whenAnswered('info').then(draw, explain);
      else void loadTerms();
    },
    /** Continues a payment that a reload has interrupted. */
    resume: () => void getPurchase().resume(),
  };
}

function renderButton(label: string, onclick: () => Promise<unknown>) {
  return h('p', {}, h('button', { type: 'button', class: 'primary', onclick: () => void onclick() }, label));
}

function renderNoWallet() {
  return h('p', { class: 'notice' }, [
    'No wallet was found in this browser. Install one, or ',
    h('a', { href: 'docs#/signal/buySignal' }, 'pay with any x402 client'),
    '.',
  ]);
}

function getBoughtKey(path: string) {
  return `oracle-bought:${path}`;
}

function readBought(path: string): PaidAnswer | null {
  try {
    return JSON.parse(sessionStorage.getItem(getBoughtKey(path)) ?? 'null');
  } catch {
    return null;
  }
}
