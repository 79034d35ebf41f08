import { h } from '../lib/dom.js';
import { shortHex } from '../lib/format.js';

/** @import { Check, Open } from './check-list.js' */
/** @import { Finding } from './verify.js' */

/** Three different things, each with its mark and its colour beside its words. */
const LOOKS = {
  verified: { mark: '✓', look: 'is-good' },
  mismatch: { mark: '✗', look: 'is-bad' },
  unchecked: { mark: '?', look: 'is-unsure' },
};

/**
 * What came of checking a row: the verdict, and every comparison on demand.
 * @param {Finding} finding
 * @param {{ open: boolean, onToggle: (open: boolean) => void, from: string, at: Date }} options `from`: host of the endpoint that was
 * asked; `at`: when
 */
export function findingView({ verdict, stage, words, checks, open: left }, { open, onToggle, from, at }) {
  const { mark, look } = LOOKS[verdict];
  const later = left.length === 0 ? null : h('span', { class: 'later' }, ` · ${left.length} left open`);
  const sentence = [h('span', { class: 'verdict-mark', 'aria-hidden': 'true' }, mark), h('strong', {}, words), later];
  if (checks.length === 0) return h('p', { class: `finding ${look}` }, sentence);
  return h(
    'details',
    { class: `finding ${look}`, open, ontoggle: ({ target }) => onToggle(target.open) },
    h('summary', {}, sentence),
    groupOf('The prediction, made before the window', checks.filter(({ about }) => about === 'prediction').map(checkLine)),
    groupOf('The resolution, made after it', checks.filter(({ about }) => about === 'resolution').map(checkLine)),
    groupOf('The row among the others', checks.filter(({ about }) => about === 'record').map(checkLine)),
    groupOf('Left open', left.map(openLine)),
    groupOf('Not checked here', beyondOf(stage).map(openLine)),
    h('p', { class: 'quiet' }, sourcesOf(from, at)),
  );
}

/** What no comparison with two attestations can tell. @param {Finding['stage']} stage */
function beyondOf(stage) {
  const closes = { what: 'That the two closes are the market’s', why: '“npx svc verify --prices live” asks exchanges' };
  const others = {
    what: 'That nothing else was committed for this day still earlier, that the wallet keeps no second record, and that no row newer than the first is kept back',
    why: '“npx svc audit” reads everything that it has attested',
  };
  return stage === 'over' ? [closes, others] : [others];
}

/** @param {string} from @param {Date} at */
function sourcesOf(from, at) {
  return `The attestations were read from ${from} at ${at.toISOString().slice(11, 16)} UTC, and all was hashed and compared in this browser. The row, the published metadata and the salt of an open forecast come from the service: each is held against a digest on chain where one is named above.`;
}

/**
 * @param {string} heading
 * @param {readonly HTMLElement[]} lines
 */
function groupOf(heading, lines) {
  return lines.length === 0 ? null : h('div', { class: 'checks' }, h('h3', {}, heading), h('ul', {}, lines));
}

/** @param {Check} check */
function checkLine({ ok, what, expected, actual }) {
  const { mark, look } = ok ? LOOKS.verified : LOOKS.mismatch;
  const figures = ok ? figureOf(actual) : h('span', { class: 'difference' }, ` Expected ${expected}, found ${actual}.`);
  return h(
    'li',
    {},
    h('span', { class: look }, mark, h('span', { class: 'visually-hidden' }, ok ? ' agrees: ' : ' does not: ')),
    h('span', {}, what, figures),
  );
}

/** What stands on chain, where it is more than a yes. @param {string} actual */
function figureOf(actual) {
  if (!/^(?:0x|-?\d|[A-Z])/.test(actual)) return null;
  return h('span', { class: 'value' }, ` ${actual.length > 60 ? shortHex(actual) : actual}`);
}

/** @param {Pick<Open, 'what' | 'why'>} open */
function openLine({ what, why }) {
  return h('li', {}, h('span', { class: 'quiet', 'aria-hidden': 'true' }, '○'), h('span', {}, `${what}: ${why}`));
}
