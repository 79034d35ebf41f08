import { h, renderFacts, replaceChildren } from '../lib/dom.ts';
import { formatPercent, formatUsdCents, formatUtcTime, shortenHex } from '../lib/format.ts';
import { formatDate, formatHorizon } from '../lib/format-text.ts';
import type { PurchaseCheck } from './check-purchase.ts';
import type { PaidAnswer } from './purchase.ts';

interface Call {
  signal: 'BUY' | 'SELL' | 'HOLD';
  direction: 'UP' | 'DOWN' | null;
  confidence: number | null;
  pUp: number | null;
  horizon: string;
  btcPrice?: number;
  resolvesAt: string;
}

interface PaymentFacts {
  usd: string;
  payer: string;
  txHash: string;
  settledAt: string;
}

interface BoughtCallOptions {
  /** Block explorer; null where there is none. */
  explorerUrl: string | null;
  check: () => Promise<PurchaseCheck[]>;
}

/** The bought call with its receipt, which can be checked. */
export function renderBoughtCall(answer: PaidAnswer, options: BoughtCallOptions) {
  const call = answer as PaidAnswer & Call;
  const { signal, horizon, resolvesAt, btcPrice } = call;
  return [
    // Without a colour: the usual share of rises may be as high.
    h('p', { class: 'call-word', tabindex: -1 }, signal),
    h('p', {}, describeCall(call)),
    renderFacts([
      ['Horizon', formatHorizon(horizon)],
      ['Until', formatDate(resolvesAt)],
      ['P(up)', formatPercent(call.pUp)],
      ['Price at signal', formatUsdCents(btcPrice)],
    ]),
    answer.charged ? renderReceipt(answer.payment as PaymentFacts, options) : h('p', { class: 'notice' }, String(answer.note)),
  ];
}

function describeCall({ signal, direction, confidence }: Call) {
  if (signal === 'HOLD' || direction === null) return 'The oracle abstains.';
  return `${direction === 'UP' ? 'Higher' : 'Lower'}, with a confidence of ${formatPercent(confidence)}.`;
}

function renderReceipt({ usd, payer, txHash, settledAt }: PaymentFacts, { explorerUrl, check }: BoughtCallOptions) {
  const hash = shortenHex(txHash);
  const transaction = explorerUrl === null ? h('span', { title: txHash }, hash) : renderExplorerLink(`${explorerUrl}/tx/${txHash}`, hash);
  const checks = h('ul', { class: 'purchase-checks', role: 'status' });
  const button = h('button', { type: 'button', onclick: () => void run() }, 'Check receipt and transaction');
  async function run() {
    button.disabled = true;
    const lines = await check().catch((): PurchaseCheck[] => [{ what: 'The chain could not be read. Try again.', ok: false }]);
    replaceChildren(checks, lines.map(renderCheck));
    button.disabled = false;
  }
  return [
    h('h3', {}, 'Receipt'),
    renderFacts([
      ['Paid', `${usd} USD`],
      ['By', h('span', { title: payer }, shortenHex(payer))],
      ['Transaction', transaction],
      ['At', formatUtcTime(settledAt)],
    ]),
    h('p', {}, button),
    checks,
  ];
}

function renderCheck({ what, ok }: PurchaseCheck) {
  return h('li', { class: ok ? 'good' : 'bad' }, `${ok ? '✓' : '✗ Failed:'} ${what}`);
}

/** Opens in a new tab. */
export function renderExplorerLink(href: string, label: string) {
  return h('a', { href, target: '_blank', rel: 'noopener noreferrer' }, label);
}
