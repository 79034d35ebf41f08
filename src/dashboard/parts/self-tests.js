import { bodyOf, h, replace } from '../lib/dom.js';
import { utcTime } from '../lib/format.js';
import { asOf, show } from '../lib/section.js';
import { sentence } from '../lib/words.js';
import { walkForwardView } from '../record/walk-forward-view.js';
import { ask, Problem } from '../state/api.js';

/** @import { Answers } from '../state/answers.ts' */
/** @import { WalkForward } from '../record/walk-forward-view.js' */
/** @import { Page } from './main.js' */

/** @typedef {Answers['selfTests']['tests'][number]} Standing */

const NAMES = {
  'walk-forward': 'Walk-forward',
  contamination: 'Contamination',
  stability: 'Stability',
  'polymarket-comparison': 'Against the prediction market',
  'self-report': 'What was promised in the week',
};

/**
 * How the service's tests of itself stand.
 * @param {Page} page
 */
export function mountSelfTests({ store }) {
  const status = h('div', {});
  replace(bodyOf('self-tests'), status, asOf(store, 'selfTests'), walkForwardOnDemand());
  show({ store, name: 'selfTests', body: status, draw });
}

/** @param {Answers['selfTests']} answer */
function draw({ tests, overdue, codeVersion }) {
  const done = tests.filter(({ state }) => state === 'done').length;
  const late = overdue.length === 0 ? 'none is overdue' : `overdue: ${overdue.map((test) => NAMES[test]).join(', ')}`;
  return [
    h('p', { class: 'sum-up' }, `${done} of ${tests.length} came to a result; ${late}.`),
    h(
      'p',
      { class: 'quiet' },
      'That a test came to a result does not mean that the model is good: read what it found. Code ',
      codeOf(codeVersion),
      '.',
    ),
    h('ul', { class: 'tests' }, tests.map(testView)),
  ];
}

/** @param {Standing} standing */
function testView({ test, path, state, verdict, lastRunAt, nextDueAt, overdue, reason, codeVersion }) {
  return h(
    'li',
    {},
    h('h3', {}, NAMES[test], ' ', stateMark(state, overdue)),
    h('p', {}, sentence(verdict ?? 'It has not been run yet.')),
    reason === null ? null : h('p', { class: 'trouble' }, sentence(reason)),
    h(
      'p',
      { class: 'quiet' },
      lastRunAt === null ? '' : `Run ${utcTime(lastRunAt)}, by code `,
      lastRunAt === null ? null : codeOf(codeVersion),
      lastRunAt === null ? '' : '; ',
      nextDueAt === null ? 'no further one is due' : `next due ${utcTime(nextDueAt)}`,
      '. ',
      h('a', { href: path.replace(/^\//, '') }, 'JSON', h('span', { class: 'visually-hidden' }, ` of ${NAMES[test]}`)),
    ),
  );
}

/** @param {Standing['state']} state @param {boolean} overdue */
function stateMark(state, overdue) {
  if (state === 'failed') return h('span', { class: 'test-state is-failed' }, '✗ failed');
  if (overdue) return h('span', { class: 'test-state is-stale' }, '! overdue');
  return state === 'done'
    ? h('span', { class: 'test-state is-fresh' }, '✓ run')
    : h('span', { class: 'test-state quiet' }, '… not run yet');
}

/** `0.1.0 35fbaf9e…` of version and digest. @param {string | null} codeVersion */
function codeOf(codeVersion) {
  const [version, digest = ''] = (codeVersion ?? '–').split('+sha256:');
  return h('code', { title: codeVersion }, digest === '' ? version : `${version} ${digest.slice(0, 8)}…`);
}

/** Asked for when the reader wants it, once. */
function walkForwardOnDemand() {
  const body = h('div', { 'aria-live': 'polite' });
  let asked = false;
  return h(
    'details',
    { class: 'more-of', ontoggle: ({ target }) => target.open && !asked && void load() },
    h('summary', {}, 'Folds and canaries of the walk-forward test'),
    body,
  );
  async function load() {
    asked = true;
    replace(body, h('p', { class: 'loading' }, 'Loading…'));
    try {
      /** @type {WalkForward} */
      const answer = await ask('api/self-test/walk-forward');
      body.removeAttribute('aria-live');
      replace(body, walkForwardView(answer));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      asked = false;
      replace(body, h('p', { class: 'trouble' }, `${error.message}.`));
    }
  }
}
