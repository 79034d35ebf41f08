import { type Hex, hashTypedData } from 'viem';
import { type SignedPayment, signPayment, type TransferTypedData } from '../../commerce/payment-signer.ts';
import { getReceiptDomain, hashDocument, RECEIPT_TYPES, type SignedReceipt, toTypedFields } from '../../commerce/receipts.ts';
import type { CallData } from '../first-screen.ts';
import { el, formatDate, formatPercent, type Markup, toSentence } from '../markup.ts';
import { ApiProblem, fetchFromService, type LoginSession, notifyAll, readJson, requestApi, toApiProblem } from './api.ts';
import { formatHorizon, formatTier, formatUsdCents, formatUtcTime, h, renderFacts, shortenHex } from './dom.ts';
import { getDefaultEndpoint } from './record-chain.ts';
import type { ApiResponses } from './responses.ts';
import type { Page } from './state.ts';
import {
  attemptLogin,
  createDialogButton,
  formatWalletError,
  isSameAccount,
  logInAsDemo,
  logInByWallet,
  logInWithToken,
  type Provider,
  renderWalletIcon,
  renderWallets,
  type ShowStatus,
  USER_REJECTED_REQUEST,
  type Wallet,
  type WalletWatch,
} from './unlock.ts';
import { draw } from './view.ts';

/** Bubbling event that opens the dialog in which the newest call is bought. */
export const BUY_EVENT = 'oracle-buy';

/** Event on the document: a call has been bought. */
export const BOUGHT_EVENT = 'oracle-bought';

type Info = ApiResponses['info'];

/** A line of a dialog that says what has happened; a problem is red. */
function renderStatus({ text, isProblem }: { text: string; isProblem: boolean }) {
  return el('p', { class: `unlock-status${isProblem ? ' bad' : ''}`, role: 'status' }, text);
}

/**
 * Sells the newest call of the chosen horizon: terms, payment, then the call with its receipt.
 * @param onNotice a payment of an earlier page load is finished, while the dialog is closed
 */
export function createBuyDialog({ store, session, horizon }: Page, wallets: WalletWatch, onNotice: (message: string) => void) {
  const element = h('dialog', { class: 'unlock buy', 'aria-labelledby': 'buy-title' });
  const purchases = new Map<string, Purchase>();
  let status = { text: '', isProblem: false };
  let content: Markup = null;
  let terms: PaymentTerms | null = null;
  /** Of the receipt; null before they are made. */
  let checks: readonly PurchaseCheck[] | null = null;
  let isChecking = false;

  function say(text: string, isProblem = false) {
    status = { text, isProblem };
    draw(
      element,
      el('h2', { id: 'buy-title', tabindex: -1 }, 'Buy this call'),
      el('div', {}, content),
      renderStatus(status),
      el('div', { class: 'unlock-end' }, el('button', { type: 'button', onclick: () => element.close() }, 'Close')),
    );
  }

  /** The purchase of the chosen horizon; each has one. */
  function getPurchase(): Purchase {
    const path = getPaidPath(horizon.value);
    const known = purchases.get(path);
    if (known !== undefined) return known;
    const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
    const purchase = createPurchase({ path, storage: localStorage, deliver: (payment) => deliverPayment(path, payment), pause });
    purchases.set(path, purchase);
    const bought = readJson<PaidAnswer>(sessionStorage, getBoughtKey(path));
    if (bought !== null) purchase.restore(bought);
    purchase.onChange(() => {
      const { state } = purchase;
      if (state.step === 'bought') {
        sessionStorage.setItem(getBoughtKey(path), JSON.stringify(state.answer));
        document.dispatchEvent(new Event(BOUGHT_EVENT));
      }
      if (state.step === 'bought' && !element.open) onNotice('The call that you paid for has arrived: Buy this call shows it.');
      checks = null;
      if (purchase === getPurchase()) redraw();
    });
    return purchase;
  }

  function redraw() {
    const [{ state }, info] = [getPurchase(), store.get('info').answer];
    if (info !== null && state.step === 'bought') content = renderBought(state.answer, info);
    else if (info !== null && terms !== null) content = [renderTerms(terms, info.chain), renderActions(terms, info)];
    say(formatPurchase(state), ['failed', 'rejected', 'used', 'unknown'].includes(state.step));
    if (state.step === 'bought' && element.open && !isChecking && checks === null)
      element.querySelector<HTMLElement>('.call-word')?.focus();
  }

  function renderBought(answer: PaidAnswer, { chain }: Info): Markup {
    const check = async () => {
      isChecking = true;
      redraw();
      checks = await checkReceipt(answer, chain).catch(() => [{ what: 'The chain could not be read. Try again.', ok: false }]);
      isChecking = false;
      redraw();
    };
    const isOld = answer.predictionId !== store.get('signal').answer?.predictionId;
    return [
      renderBoughtCall(answer as BoughtCall),
      renderReceipt(answer.payment as PaymentFacts, chain),
      el('p', {}, el('button', { type: 'button', disabled: isChecking, onclick: () => void check() }, 'Check receipt and transaction')),
      el('ul', { class: 'purchase-checks', role: 'status' }, checks?.map(renderCheck)),
      isOld && el('p', {}, el('button', { type: 'button', onclick: () => void startAgain() }, 'Buy the newest call')),
    ];
  }

  function startAgain() {
    sessionStorage.removeItem(getBoughtKey(getPaidPath(horizon.value)));
    getPurchase().reset();
    return loadTerms();
  }

  function renderActions(current: PaymentTerms, info: Info): Markup {
    const purchase = getPurchase();
    const { step } = purchase.state;
    if (step === 'signing' || step === 'paying') return el('progress', { 'aria-label': 'Payment' });
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
    const anyClient = el('a', { href: 'docs#/signal/buySignal' }, 'pay with any x402 client');
    const none = el('p', { class: 'notice' }, ['No wallet was found in this browser. Install one, or ', anyClient, '.']);
    return [demo, own, !demo && own.length === 0 && none];
  }

  async function loadTerms() {
    [terms, content] = [null, null];
    say('Asking for the terms…');
    const days = horizon.value;
    try {
      const loaded = await fetchTerms(getPaidPath(days), await store.whenAnswered('info'));
      if (days !== horizon.value) return;
      terms = loaded;
      redraw();
    } catch (error) {
      explain(error);
    }
  }

  function explain(error: unknown) {
    if (!(error instanceof ApiProblem)) reportError(error);
    say(error instanceof ApiProblem ? toSentence(error.message) : 'The terms of the service cannot be read.', true);
  }

  wallets.onFound(() => element.open && redraw());
  return {
    element,
    open() {
      wallets.ask();
      checks = null;
      say('');
      if (!element.open) element.showModal();
      if (getPurchase().state.step === 'bought') store.whenAnswered('info').then(redraw, explain);
      else void loadTerms();
    },
    /** Continues a payment that a reload has interrupted. */
    resume: () => void getPurchase().resume(),
  };
}

function renderButton(label: string, onclick: () => Promise<unknown>) {
  return el('p', {}, el('button', { type: 'button', class: 'primary', onclick: () => void onclick() }, label));
}

function getBoughtKey(path: string) {
  return `oracle-bought:${path}`;
}

/** The values of a call that was bought in this tab; null where it is another one. */
export function readBoughtCall(predictionId: string, horizonDays: number): Pick<CallData, 'signal' | 'direction' | 'confidence'> | null {
  const bought = readJson<PaidAnswer>(sessionStorage, getBoughtKey(getPaidPath(horizonDays)));
  if (bought?.predictionId !== predictionId) return null;
  const { signal, direction, confidence } = bought as unknown as CallData;
  return { signal, direction, confidence };
}

type BoughtCall = Record<'signal' | 'direction' | 'horizon' | 'resolvesAt', string> & {
  confidence: number;
  pUp: number;
  btcPrice?: number;
};

function renderBoughtCall({ signal, direction, confidence, pUp, horizon, resolvesAt, btcPrice }: BoughtCall) {
  return [
    // Without a colour: the usual share of rises may be as high.
    el('p', { class: 'call-word', tabindex: -1 }, signal),
    el('p', {}, `${direction === 'UP' ? 'Higher' : 'Lower'}, with a confidence of ${formatPercent(confidence)}, not proven skill.`),
    renderFacts([
      ['Horizon', formatHorizon(horizon)],
      ['Until', formatDate(resolvesAt)],
      ['P(up)', formatPercent(pUp)],
      ['Price at signal', formatUsdCents(btcPrice)],
    ]),
  ];
}

type PaymentFacts = Record<'usd' | 'payer' | 'txHash' | 'settledAt', string>;

function renderReceipt({ usd, payer, txHash, settledAt }: PaymentFacts, chain: Chain) {
  return [
    el('h3', {}, 'Receipt'),
    renderFacts([
      ['Paid', `${usd} USD`],
      ['By', el('span', { title: payer }, shortenHex(payer))],
      ['Transaction', renderOnChain('tx', txHash, chain)],
      ['At', formatUtcTime(settledAt)],
    ]),
  ];
}

function renderCheck({ what, ok }: PurchaseCheck) {
  return el('li', { class: ok ? 'good' : 'bad' }, `${ok ? '✓' : '✗ Failed:'} ${what}`);
}

/** Opens the explorer in a new tab, where there is one. */
function renderOnChain(kind: 'tx' | 'address', hex: string, { explorerUrl }: Chain) {
  const label = shortenHex(hex);
  if (explorerUrl === null) return el('span', { title: hex }, label);
  return el('a', { href: `${explorerUrl}/${kind}/${hex}`, target: '_blank', rel: 'noopener noreferrer' }, label);
}

/** Pays a request. @throws {ApiProblem} UNREACHABLE also for a reply that was cut off */
async function deliverPayment(path: string, payment: SignedPayment): Promise<PaidAnswer> {
  const headers = { accept: 'application/json', 'PAYMENT-SIGNATURE': btoa(JSON.stringify(payment)) };
  const response = await fetchFromService(path, { headers });
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer;
  throw response.ok ? new ApiProblem({ code: 'UNREACHABLE', detail: 'The reply was cut off' }) : toApiProblem(response, answer);
}

/** The payment of the demo buyer, signed by the service, for the terms shown. @throws {ApiProblem} */
async function signAsDemoBuyer(horizonDays: number, { accepted }: PaymentTerms): Promise<SignedPayment> {
  const body = { offering: 'x402_signal', horizon: `${horizonDays}d` };
  const { payment } = await requestApi<{ payment: SignedPayment }>('api/demo/payment', { method: 'POST', body });
  const { to, value } = payment.payload.authorization;
  if (to === accepted.payTo && value === accepted.amount) return payment;
  throw new ApiProblem({ code: 'UNEXPECTED', detail: 'The payment is not for the terms shown' });
}

/** The state of a purchase in a sentence, with what to do about a problem. */
function formatPurchase(state: PurchaseState): string {
  switch (state.step) {
    case 'signing':
      return 'Sign the payment.';
    case 'paying':
      if (state.attempt === 1) return 'Paying, and waiting for the call…';
      return `No answer yet. Sending the same payment again (${state.attempt})…`;
    case 'failed':
      return toSentence(state.message);
    case 'rejected':
      return formatRejection(state.problem);
    case 'used':
      return `The payment was used, but no call came. ${toSentence(state.problem.message)} Do not pay again: ask the operator.`;
    case 'unknown':
      return `It is not known yet whether it was paid. ${toSentence(state.problem.message)} Ask again: the same payment is sent and never charged twice.`;
    default:
      return '';
  }
}

function formatRejection({ code, message, suggestedAction, facts }: ApiProblem) {
  const reason = String(facts.reason ?? facts.error);
  if (/insufficient|balance/.test(reason))
    return `Nothing was paid. ${toSentence(message)} ${suggestedAction ?? 'Pay from another wallet.'}`;
  if (/expire|valid_before/.test(reason)) return 'The payment expired before it was used. Nothing was paid. Pay again.';
  if (code === 'CONFLICT') return 'This payment was for another request. Pay again.';
  return `Nothing was paid. ${toSentence(message)}`;
}

const CHAIN_NAMES: Record<number, string> = { 8453: 'Base', 84532: 'Base Sepolia' };

type Chain = Info['chain'];

function formatChain({ id, local }: Chain) {
  return local ? 'local demo chain, money without value' : `${CHAIN_NAMES[id] ?? 'chain'} (${id})`;
}

/** What is paid, to whom and under which rule, as the service's 402 states it. */
function renderTerms({ accepted, resource, usd }: PaymentTerms, chain: Chain) {
  const { extra, asset, payTo, maxTimeoutSeconds } = accepted;
  return [
    el('p', {}, resource.description),
    renderFacts([
      ['Price', el('strong', {}, `${usd} USD`)],
      ['In', el('span', {}, `${extra.name} `, renderOnChain('address', asset, chain))],
      ['On', formatChain(chain)],
      ['To', renderOnChain('address', payTo, chain)],
      ['Valid', `${Math.round(maxTimeoutSeconds / 60)} minutes after signing`],
    ]),
  ];
}

export type PaidAnswer = Record<string, unknown>;

/** `unknown`: it is not known whether it was paid; only the same payment may be sent. */
type PurchaseState =
  | { step: 'idle' }
  | { step: 'signing' }
  | { step: 'paying'; attempt: number }
  | { step: 'failed'; message: string }
  | { step: 'rejected' | 'used' | 'unknown'; problem: ApiProblem }
  | { step: 'bought'; answer: PaidAnswer };

interface PendingPayment {
  payment: SignedPayment;
  /** Who signed, as the caller of `pay` names it. */
  payer: string;
  /** The service has said that it has not used it. */
  isUnused: boolean;
  /** Time of its answer, in epoch milliseconds: another tab that was about to pay gets the same one. */
  answeredMs?: number;
}

type Purchase = ReturnType<typeof createPurchase>;

const MAX_ATTEMPTS = 5;
const MAX_PAUSE_MS = 15_000;
/** Codes by which the service decides about a payment; after any other one its outcome is unknown. */
const DECIDED = new Set(['PAYMENT_REQUIRED', 'CONFLICT', 'INPUT_INVALID', 'NOT_FOUND']);

/**
 * One answer for one payment: it is stored before it is sent, and sent again until its outcome is known, after a reload too. No other one is
 * signed until then.
 */
export function createPurchase(options: {
  /** Path of the paid request. */
  path: string;
  /** Shared by the tabs of this browser. */
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  /** Sends the payment. @throws {ApiProblem} of the service, or UNREACHABLE */
  deliver: (payment: SignedPayment) => Promise<PaidAnswer>;
  pause: (ms: number) => Promise<void>;
  now?: () => number;
}) {
  const { path, storage, deliver, pause, now = Date.now } = options;
  const key = `oracle-payment:${path}`;
  const listeners = new Set<() => void>();
  let state: PurchaseState = { step: 'idle' };
  let running: Promise<void> | null = null;
  /** Start of the run whose payment may be undecided. */
  let sinceMs = now();

  function setState(next: PurchaseState) {
    state = next;
    notifyAll(listeners, undefined);
  }

  const load = () => readJson<PendingPayment>(storage, key);
  const save = (pending: PendingPayment) => storage.setItem(key, JSON.stringify(pending));
  const isOver = ({ payment }: PendingPayment) => now() >= 1_000 * Number(payment.payload.authorization.validBefore);

  /** The payment that must be sent instead of a new one. */
  function findBinding(payer: string) {
    const pending = load();
    if (pending === null) return null;
    if (pending.answeredMs !== undefined) return pending.answeredMs >= sinceMs ? pending : null;
    return pending.isUnused && (isOver(pending) || pending.payer !== payer) ? null : pending;
  }

  async function signAndSend(payer: string, sign: () => Promise<SignedPayment>) {
    // An undecided payment may be answered in another tab meanwhile.
    if (state.step !== 'unknown') sinceMs = now();
    if (findBinding(payer) === null) {
      setState({ step: 'signing' });
      const payment = await sign();
      // Another tab may have paid while the wallet was open.
      if (findBinding(payer) === null) save({ payment, payer, isUnused: false });
    }
    await send();
  }

  async function send() {
    const stored = load();
    if (stored === null) return;
    const pending = { ...stored, isUnused: false };
    // What was said of it earlier ends with the next attempt.
    if (pending.answeredMs === undefined) save(pending);
    for (let attempt = 1; ; attempt++) {
      setState({ step: 'paying', attempt });
      try {
        return finish(pending, await deliver(pending.payment));
      } catch (problem) {
        if (!(problem instanceof ApiProblem)) throw problem;
        if (DECIDED.has(problem.code)) return reject(pending, problem);
        // Another tab may have been rejected with the same payment.
        if (pending.answeredMs === undefined) save(pending);
        if (attempt === MAX_ATTEMPTS) return setState({ step: 'unknown', problem });
        await pause(Math.min(MAX_PAUSE_MS, Math.max(1_000 * attempt, 1_000 * (problem.retryAfterSeconds ?? 0))));
      }
    }
  }

  function finish(pending: PendingPayment, answer: PaidAnswer) {
    save({ ...pending, answeredMs: now() });
    setState({ step: 'bought', answer });
  }

  function reject(pending: PendingPayment, problem: ApiProblem) {
    if (/nonce|spent|used/.test(String(problem.facts.reason))) return setState({ step: 'used', problem });
    if (isOver(pending) || problem.code === 'CONFLICT') storage.removeItem(key);
    else save({ ...pending, isUnused: true });
    setState({ step: 'rejected', problem });
  }

  /** One run at a time: a second click joins the first. */
  function runOnce(work: () => Promise<void>) {
    running ??= work()
      .catch((error) => {
        if (!(error instanceof SigningError) && !(error instanceof ApiProblem)) reportError(error);
        setState({ step: 'failed', message: error instanceof Error ? error.message : 'The payment failed.' });
      })
      .finally(() => {
        running = null;
      });
    return running;
  }

  return {
    get state() {
      return state;
    },
    onChange(listener: () => void) {
      listeners.add(listener);
    },
    /** @param sign asked only where no earlier payment is undecided */
    pay: (payer: string, sign: () => Promise<SignedPayment>) => runOnce(() => signAndSend(payer, sign)),
    /** Sends an undecided payment again, such as after a reload. */
    async resume() {
      const pending = load();
      if (pending === null || pending.isUnused) return;
      if (pending.answeredMs === undefined || state.step === 'unknown') await runOnce(send);
    },
    /** Shows an answer that was bought before. */
    restore: (answer: PaidAnswer) => setState({ step: 'bought', answer }),
    /** Back to the terms; an undecided payment is kept. */
    reset: () => setState({ step: 'idle' }),
    /** Gives up a payment that was used without an answer. */
    forget() {
      storage.removeItem(key);
      setState({ step: 'idle' });
    },
  };
}

/** A payment that was not signed; the message is shown to the reader. */
export class SigningError extends Error {}

const DOMAIN_TYPES = toTypedFields('string name, string version, uint256 chainId, address verifyingContract');

/** Asks a wallet to sign a transfer of exactly these terms. @throws {SigningError} */
async function signWithWallet(provider: Provider, { accepted, resource }: PaymentTerms, preferred?: string): Promise<SignedPayment> {
  const { network, asset, extra, payTo, amount, maxTimeoutSeconds } = accepted;
  const chainId = Number(network.split(':')[1]);
  const requirement = {
    ...{ accepted: { ...accepted }, resource, takesPaymentId: true, chainId, amountMicros: BigInt(amount), asset, payTo },
    ...{ assetName: extra.name, assetVersion: extra.version, validForSeconds: maxTimeoutSeconds },
  };
  try {
    const accounts = (await provider.request({ method: 'eth_requestAccounts' })) as readonly Hex[];
    const address = accounts.find((account) => isSameAccount(account, preferred)) ?? accounts[0];
    await selectChain(provider, chainId);
    const signTypedData = async ({ types, ...data }: TransferTypedData) => {
      const typed = { ...data, types: { EIP712Domain: DOMAIN_TYPES, ...types } };
      const text = JSON.stringify(typed, (_name, value) => (typeof value === 'bigint' ? String(value) : value));
      return (await provider.request({ method: 'eth_signTypedData_v4', params: [address, text] })) as Hex;
    };
    return await signPayment({ address, signTypedData }, requirement, new Date());
  } catch (error) {
    throw error instanceof SigningError ? error : new SigningError(formatWalletError(error as { code?: number }));
  }
}

/** Wallets sign for the chain that they are on. */
async function selectChain(provider: Provider, chainId: number) {
  if (Number(await provider.request({ method: 'eth_chainId' })) === chainId) return;
  await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: `0x${chainId.toString(16)}` }] }).catch((error) => {
    if (error.code === USER_REJECTED_REQUEST) throw error;
    throw new SigningError(`The wallet is on another network. Select chain ${chainId} there, then pay again.`);
  });
}

/** An accepted entry of `PAYMENT-REQUIRED` (x402 version 2), which is sent back unchanged. */
interface AcceptedTerms {
  network: string;
  amount: string;
  asset: Hex;
  payTo: Hex;
  maxTimeoutSeconds: number;
  extra: { name: string; version: string };
}

interface PaymentTerms {
  accepted: AcceptedTerms;
  resource: { url: string; description: string };
  /** Price in USD, an exact decimal. */
  usd: string;
  realMoney: boolean;
}

/** A longer authorization would stay usable long after the sale. */
const MAX_VALIDITY_SECONDS = 600;

/** Path of the paid request, which also names the purchase. */
function getPaidPath(horizonDays: number) {
  return `oracle?horizon=${horizonDays}d`;
}

/** The terms of the service's 402, if they are for its own stablecoin and chain. @throws {ApiProblem} */
async function fetchTerms(path: string, { chain, contracts }: Pick<ApiResponses['info'], 'chain' | 'contracts'>): Promise<PaymentTerms> {
  const response = await fetchFromService(path, { headers: { accept: 'application/json' } });
  const answer = await response.json().catch(() => null);
  const header = response.headers.get('PAYMENT-REQUIRED');
  if (response.status !== 402 || header === null) throw toApiProblem(response, answer);
  const decoded = new TextDecoder().decode(Uint8Array.from(atob(header), (character) => character.charCodeAt(0)));
  const { resource, accepts } = JSON.parse(decoded);
  const accepted: AcceptedTerms = accepts[0];
  const isOwn = accepted.network === chain.caip2 && accepted.asset.toLowerCase() === contracts.stablecoin.toLowerCase();
  if (!isOwn || !(accepted.maxTimeoutSeconds <= MAX_VALIDITY_SECONDS)) {
    throw new ApiProblem({ code: 'UNEXPECTED', detail: 'The terms name another coin or chain than the service' });
  }
  const { usd, realMoney } = answer.payment;
  return { accepted, resource, usd, realMoney };
}

interface PurchaseCheck {
  what: string;
  ok: boolean;
}

interface ChainLog {
  address: string;
  topics: readonly string[];
  data: string;
}

/** keccak256 of `Transfer(address,address,uint256)`. */
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** Precompiled contract that recovers the signer of a hash. */
const ECRECOVER = '0x0000000000000000000000000000000000000001';

/**
 * Checks receipt and transaction of a paid answer: with the signer that the service publishes for payers, and on chain.
 * @throws Error when the chain cannot be read
 */
async function checkReceipt(bought: PaidAnswer, chain: Chain): Promise<PurchaseCheck[]> {
  const { receipt: published } = await (await fetchFromService('.well-known/x402.json', {})).json();
  const endpoint = getDefaultEndpoint(chain, document.baseURI);
  const { payment, receipt, ...answer } = bought;
  const { message, signature } = receipt as { message: SignedReceipt['message']; signature: string };
  const { txHash } = payment as { txHash: string };
  const typed = { ...message, amount: BigInt(message.amount), settledAt: BigInt(message.settledAt) };
  const signed = hashTypedData({ domain: getReceiptDomain(chain.id), types: RECEIPT_TYPES, primaryType: 'Receipt', message: typed });
  const [signer, transaction] = await Promise.all([
    recoverSigner(endpoint, signed, signature),
    callChain(endpoint, 'eth_getTransactionReceipt', [txHash]) as Promise<{ status: string; logs: ChainLog[] } | null>,
  ]);
  const { payer, payee, asset, amount } = message;
  const isTransfer = ({ address, topics, data }: ChainLog) =>
    isSame(address, asset) &&
    topics[0] === TRANSFER_TOPIC &&
    isSame(`0x${topics[1].slice(26)}`, payer) &&
    isSame(`0x${topics[2].slice(26)}`, payee) &&
    BigInt(data) === BigInt(amount);
  return [
    { what: 'The seller has signed the receipt', ok: isSame(signer, published.signer) },
    { what: 'It is for exactly this call', ok: hashDocument(answer) === message.answerHash },
    { what: 'It names the transaction', ok: isSame(txHash, message.txHash) },
    {
      what: 'On chain, the transaction moved the price from payer to seller',
      ok: transaction?.status === '0x1' && transaction.logs.some(isTransfer),
    },
  ];
}

/** @throws TypeError for what is missing: then the check cannot be made, which is not the same as failed */
function isSame(one: string, other: string) {
  return one.toLowerCase() === other.toLowerCase();
}

async function recoverSigner(endpoint: string, hash: Hex, signature: string) {
  const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), signature.slice(130)];
  const data = `${hash}${v.padStart(64, '0')}${r}${s}`;
  return `0x${String(await callChain(endpoint, 'eth_call', [{ to: ECRECOVER, data }, 'latest'])).slice(26)}`;
}

async function callChain(endpoint: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(endpoint, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const { result } = await response.json();
  if (result === undefined) throw new Error('The chain does not answer');
  return result;
}

const SIGNATURE_EXPLANATION =
  'Your wallet signs a line of text, no transaction. The service checks its tier and shows today’s call for 30 minutes.';

/** Login dialog: a wallet of this browser, or an access token. @param options `fallback` gets the focus if the opener is gone */
export function createUnlockDialog(options: {
  wallets: WalletWatch;
  onLoggedIn: (session: LoginSession) => void;
  fallback: () => void;
  /** Null while it is loading. */
  getInfo: () => ApiResponses['info'] | null;
}) {
  const { wallets, onLoggedIn, fallback, getInfo } = options;
  const element = h('dialog', { class: 'unlock', 'aria-labelledby': 'unlock-title' });
  let status = { text: '', isProblem: false };
  /** One login at a time: a later one, or closing the dialog, cancels it. */
  let generation = 0;
  const say: ShowStatus = (text, isProblem = false) => {
    status = { text, isProblem };
    redraw();
  };

  async function begin(login: (say: ShowStatus) => Promise<LoginSession>, wallet: Wallet | null, isByToken = false) {
    const ownGeneration = ++generation;
    say('Contacting the service…');
    const onDone = (session: LoginSession) => {
      element.close();
      if (wallet === null) wallets.forget();
      else wallets.use(wallet);
      onLoggedIn(session);
      if (document.activeElement === document.body) fallback();
    };
    await attemptLogin({ login, counts: () => ownGeneration === generation, say, onDone, isByToken });
  }
  const renderWalletButton = (wallet: Wallet) => {
    const onclick = () => void begin((sayStage) => logInByWallet(wallet, sayStage), wallet);
    return el('button', { type: 'button', onclick }, renderWalletIcon(wallet), wallet.name);
  };
  const none = 'No wallet was found in this browser. Install one or use a token.';
  function redraw() {
    const info = getInfo();
    const roles = (info?.demo?.wallets ?? []).map(({ role }) => role).filter((role) => role === 'basic' || role === 'premium');
    const demo = roles.map((role) => renderButton(`As the demo wallet ${formatTier(role)}`, () => begin(() => logInAsDemo(role), null)));
    draw(
      element,
      el('h2', { id: 'unlock-title' }, 'Unlock with your wallet'),
      el('p', {}, SIGNATURE_EXPLANATION),
      el('div', {}, demo, demo.length > 0 && wallets.all.length === 0 ? null : renderWallets(wallets.all, none, renderWalletButton)),
      renderStatus(status),
      el('div', { class: 'tier-rule quiet' }, info && renderTierRule(info)),
      el('details', {}, [
        el('summary', {}, 'Use a token instead'),
        renderTokenForm((token) => void begin(() => logInWithToken(token), null, true)),
      ]),
      el('div', { class: 'unlock-end' }, [
        el('button', { type: 'button', onclick: () => element.close() }, 'Close'),
        ' ',
        el('a', { href: 'access' }, 'Keys for bots'),
      ]),
    );
  }
  wallets.onFound(redraw);
  element.addEventListener('close', () => {
    generation += 1;
    say('');
    element.querySelector('form')?.reset();
  });
  return {
    element,
    close: () => element.close(),
    open() {
      wallets.ask();
      redraw();
      if (!element.open) element.showModal();
    },
  };
}

function renderTokenForm(onUse: (token: string) => void) {
  const onsubmit = (event: Event) => {
    event.preventDefault();
    onUse(String(new FormData(event.currentTarget as HTMLFormElement).get('token')));
  };
  const attributes = { id: 'unlock-token', name: 'token', type: 'text', autocomplete: 'off', spellCheck: 'false' };
  return el('form', { class: 'token', onsubmit }, [
    el('label', { for: attributes.id }, 'Access token'),
    el('input', { ...attributes, maxlength: 2_100, required: true }),
    el('button', { type: 'submit' }, 'Use this token'),
    el('p', { class: 'token-note quiet' }, 'In the folder of the service, ', el('code', {}, 'npm run -s token -- basic'), ' prints one.'),
  ]);
}

/** Which token is needed, how much of it, where the rule is written, and how to read a call without it. */
function renderTierRule({ tiers, contracts, chain }: ApiResponses['info']) {
  const needed = tiers.filter(({ tier }) => tier !== 'public');
  const { gateToken } = contracts;
  return [
    el('p', {}, [
      ...(gateToken === null ? [] : ['Gate token ', renderOnChain('address', gateToken, chain), ` on ${formatChain(chain)}: `]),
      needed.map(({ tier, requirement }) => `${formatTier(tier)} ${requirement.replace(' gate tokens', '')}`).join(', '),
      '. ',
      el('a', { href: 'docs#/access/getWalletTier' }, 'The rule'),
      '.',
    ]),
    el(
      'p',
      {},
      'Without tokens: ',
      createDialogButton('Buy this call', BUY_EVENT),
      ' or ',
      el('a', { href: 'docs#/signal/buySignal' }, 'any x402 client'),
      '.',
    ),
  ];
}
