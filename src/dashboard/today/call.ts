import { type Child, h } from '../lib/dom.ts';
import { formatPercent } from '../lib/format.ts';
import { formatDate, formatHorizon } from '../lib/format-text.ts';
import type { ApiResponses } from '../state/responses.ts';

type Signal = ApiResponses['signal'];
type ReadableSignal = Signal & { direction: 'UP' | 'DOWN'; confidence: number };

/** What the call means, as far as the reader may see it. */
export function renderCall(signal: Signal): readonly Child[] {
  const { direction, confidence } = signal;
  const isHidden = signal.signal === 'GATED' || direction === null || confidence === null;
  return [renderOriginTags(signal), isHidden ? null : renderMeaning({ ...signal, direction, confidence })];
}

function renderMeaning({ signal, direction, confidence, horizon, resolvesAt }: ReadableSignal) {
  const pUp = formatPercent(direction === 'UP' ? confidence : 1 - confidence);
  const where = `${direction === 'UP' ? 'higher' : 'lower'} on ${formatDate(resolvesAt)}`;
  if (signal !== 'HOLD') return h('p', {}, `${signal}: Bitcoin is expected to be ${where}. P(up) ${pUp}.`);
  return h(
    'p',
    {},
    `HOLD: the ${formatHorizon(horizon)} forecast leans ${where}, too weakly to act on. P(up) ${pUp}. A HOLD is never scored.`,
  );
}

function renderOriginTags({ replayed, source }: Pick<Signal, 'replayed' | 'source'>): Child {
  const text = [source.startsWith('simulated') ? 'Simulated' : null, replayed ? 'Replayed' : null].filter((one) => one !== null);
  const tags = text.map((one) => h('span', { class: 'tag' }, one));
  return tags.length > 0 && h('p', { class: 'marks' }, tags);
}
