import { type Child, h, s } from '../lib/dom.ts';
import { formatPercent } from '../lib/format.ts';
import { formatDate, formatHorizon } from '../lib/format-text.ts';
import type { ApiResponses } from '../state/responses.ts';
import { createUnlockButton } from '../unlock/unlock-button.ts';

type Signal = ApiResponses['signal'];

const EVEN_ODDS = 0.5;

interface CallReader {
  /** Requirement of the Basic tier. */
  needed: string;
  /** Null when anonymous. */
  tier: string | null;
  /** The session has expired. */
  hasEnded: boolean;
}

/** The call as far as the reader may see it; hidden values are null. */
export function renderCall(signal: Signal, reader: CallReader): readonly Child[] {
  const { direction, confidence } = signal;
  if (signal.signal === 'GATED' || direction === null || confidence === null) return renderCommittedCall(signal, reader);
  return [
    renderOriginTags(signal),
    renderSignal(signal.signal),
    renderMeaning({ ...signal, direction, confidence }),
    renderGauge(toPUp(direction, confidence)),
    renderOutcome(signal),
  ];
}

type RevealedSignal = Signal & { direction: 'UP' | 'DOWN'; confidence: number };

function renderCommittedCall(signal: Signal, { needed, tier, hasEnded }: CallReader): readonly Child[] {
  return [
    renderOriginTags(signal),
    h('p', { class: 'call-word sealed' }, [
      h('span', { 'aria-hidden': 'true', class: 'seal' }),
      `Committed, revealed after ${formatDate(signal.resolvesAt)}`,
    ]),
    h('p', {}, [
      `The ${formatHorizon(signal.horizon)} call ${formatCommitment(signal)}. It is revealed to everyone once the outcome is known.`,
    ]),
    ...(tier === null ? renderUnlockOptions(needed, hasEnded) : [renderTierLost(needed)]),
  ];
}

function formatCommitment({ status, attestationUid }: Signal) {
  if (status === 'VOID') return 'was not committed on chain in time: it is void and never counts';
  return attestationUid === null
    ? 'will be committed on chain before its outcome window opens'
    : 'was committed on chain before its outcome window opened';
}

function renderTierLost(needed: string) {
  return h('p', { class: 'notice' }, `The wallet no longer holds ${needed}, so calls are hidden until they are revealed.`);
}

function renderUnlockOptions(needed: string, hasEnded: boolean) {
  return [
    h('p', {}, createUnlockButton(hasEnded ? 'Session expired: unlock again' : undefined)),
    h('p', { class: 'quiet' }, [
      `Requires ${needed} (Basic tier). Free: your wallet signs a message and sends no transaction. Without tokens, `,
      h('a', { href: 'docs#/signal/buySignal' }, 'buy a single call by x402'),
      '.',
    ]),
  ];
}

/** Arrows, as colour alone would not be accessible. */
const SIGNAL_LABELS = { BUY: ['▲', 'BUY', 'up'], SELL: ['▼', 'SELL', 'down'], HOLD: ['■', 'HOLD', 'abstains'] };

function renderSignal(signal: 'BUY' | 'SELL' | 'HOLD') {
  const [sign, name, what] = SIGNAL_LABELS[signal];
  const colour = { BUY: 'good', SELL: 'bad', HOLD: 'quiet' }[signal];
  return h('p', { class: `call-word ${colour}` }, [
    h('span', { 'aria-hidden': 'true' }, sign),
    h('span', {}, name),
    ' ',
    h('small', {}, what),
  ]);
}

function renderMeaning({ signal, direction, confidence, horizon, resolvesAt }: RevealedSignal) {
  const where = `${direction === 'UP' ? 'higher' : 'lower'} on ${formatDate(resolvesAt)}`;
  const share = h('strong', {}, formatPercent(confidence));
  const text =
    signal === 'HOLD'
      ? [
          `The ${formatHorizon(horizon)} forecast leans towards a price ${where}, at `,
          share,
          ': too weak to act on in this regime. A HOLD is never scored.',
        ]
      : [
          `Bitcoin is expected to be ${where}, with a confidence of `,
          share,
          `: about ${Math.round(100 * confidence)} of 100 such calls should be right. See `,
          h('a', { href: '#calibration' }, 'calibration'),
          '.',
        ];
  return h('p', {}, text);
}

function toPUp(direction: 'UP' | 'DOWN', confidence: number) {
  return direction === 'UP' ? confidence : 1 - confidence;
}

/** P(up) on a scale from 0 to 100 %. */
function renderGauge(pUp: number) {
  const [at, from, width] = [pUp, Math.min(pUp, EVEN_ODDS), Math.abs(pUp - EVEN_ODDS)].map((share) => `${(100 * share).toFixed(2)}%`);
  return h('div', { class: 'gauge' }, [
    h('span', {}, `P(up) ${formatPercent(pUp)}`),
    s('svg', { class: 'gauge-line', width: '100%', height: 20, 'aria-hidden': 'true' }, [
      s('line', { class: 'range-axis', x1: '0%', x2: '100%', y1: 10, y2: 10 }),
      s('rect', { class: 'gauge-lean', x: from, width, y: 6, height: 8 }),
      s('line', { class: 'range-then', x1: '50%', x2: '50%', y1: 1, y2: 19 }),
      s('circle', { class: 'gauge-at', cx: at, cy: 10, r: 6 }),
    ]),
    h('span', { class: 'gauge-scale quiet', 'aria-hidden': 'true' }, [
      h('span', {}, '0 %: down'),
      h('span', {}, 'even odds'),
      h('span', {}, '100 %: up'),
    ]),
  ]);
}

const OUTCOME_TEXTS: Record<Signal['status'], string | null> = {
  PENDING: null,
  WIN: 'The call was right.',
  LOSS: 'The call was wrong.',
  HOLD: 'Resolved. A HOLD is not scored.',
  VOID: 'Void: committed too late, never counts.',
};

function renderOutcome({ status }: Signal) {
  const text = OUTCOME_TEXTS[status];
  return text === null ? null : h('p', { class: status === 'WIN' ? 'good' : status === 'LOSS' ? 'bad' : 'notice' }, text);
}

function renderOriginTags({ replayed, source }: Pick<Signal, 'replayed' | 'source'>): Child {
  const text = [source.startsWith('simulated') ? 'Simulated' : null, replayed ? 'Replayed' : null].filter((one) => one !== null);
  const tags = text.map((one) => h('span', { class: 'tag' }, one));
  return tags.length > 0 && h('p', { class: 'marks' }, tags);
}
