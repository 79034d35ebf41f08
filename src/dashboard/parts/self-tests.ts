import { getSectionBody, h, replaceChildren } from '../lib/dom.ts';
import { toSentence } from '../lib/format-text.ts';
import { createTime } from '../lib/local-time.ts';
import { createAsOfLine, mountResource } from '../lib/section.ts';
import { renderWalkForward } from '../record/walk-forward-view.ts';
import { ApiProblem, requestApi } from '../state/api.ts';
import type { Page } from '../state/page.ts';
import type { ApiResponses, WalkForward } from '../state/responses.ts';

type SelfTestStatus = ApiResponses['selfTests']['tests'][number];

const TEST_NAMES = {
  'walk-forward': 'Walk-forward',
  contamination: 'Contamination',
  stability: 'Stability',
  'polymarket-comparison': 'Against the prediction market',
  'self-report': 'Weekly self-report',
};

/** Status of the self-tests of the service. */
export function mountSelfTests({ store }: Page) {
  const status = h('div', {});
  replaceChildren(getSectionBody('self-tests'), status, createAsOfLine(store, 'selfTests'), createWalkForwardDetails());
  mountResource({ store, name: 'selfTests', body: status, draw: renderSelfTests });
}

function renderSelfTests({ tests, overdue, codeVersion }: ApiResponses['selfTests']) {
  const done = tests.filter(({ state }) => state === 'done').length;
  const late = overdue.length === 0 ? 'none is overdue' : `overdue: ${overdue.map((test) => TEST_NAMES[test]).join(', ')}`;
  return [
    h('p', { class: 'sum-up' }, `${done} of ${tests.length} have a result; ${late}.`),
    h('p', { class: 'quiet' }, 'A result is not a verdict on the model: read what it found. Code ', renderCodeVersion(codeVersion), '.'),
    h('ul', { class: 'tests' }, tests.map(renderTest)),
  ];
}

function renderTest({ test, path, state, verdict, lastRunAt, nextDueAt, overdue, reason, codeVersion }: SelfTestStatus) {
  return h('li', {}, [
    h('h3', {}, TEST_NAMES[test], ' ', renderTestState(state, overdue)),
    h('p', {}, toSentence(verdict ?? 'Not run yet.')),
    reason === null ? null : h('p', { class: 'trouble' }, toSentence(reason)),
    h('p', { class: 'quiet' }, [
      ...(lastRunAt === null ? [] : ['Run ', createTime(lastRunAt), ', by code ', renderCodeVersion(codeVersion), '; ']),
      ...(nextDueAt === null ? ['no further run due'] : ['next due ', createTime(nextDueAt)]),
      '. ',
      h('a', { href: path.replace(/^\//, '') }, 'JSON', h('span', { class: 'visually-hidden' }, ` of ${TEST_NAMES[test]}`)),
    ]),
  ]);
}

function renderTestState(state: SelfTestStatus['state'], overdue: boolean) {
  if (state === 'failed') return h('span', { class: 'test-state is-failed' }, '✗ failed');
  if (overdue) return h('span', { class: 'test-state is-stale' }, '! overdue');
  return state === 'done'
    ? h('span', { class: 'test-state is-fresh' }, '✓ run')
    : h('span', { class: 'test-state quiet' }, '… not run yet');
}

/** `0.1.0 35fbaf9e…`. */
function renderCodeVersion(codeVersion: string | null) {
  const [version, digest = ''] = (codeVersion ?? '–').split('+sha256:');
  return h('code', { title: codeVersion }, digest === '' ? version : `${version} ${digest.slice(0, 8)}…`);
}

/** Loaded once, when it is opened. */
function createWalkForwardDetails() {
  const body = h('div', { 'aria-live': 'polite' });
  let isRequested = false;
  return h('details', { class: 'more-of', ontoggle: ({ target }) => (target as HTMLDetailsElement).open && !isRequested && void load() }, [
    h('summary', {}, 'Folds and canaries of the walk-forward test'),
    body,
  ]);
  async function load() {
    isRequested = true;
    replaceChildren(body, h('p', { class: 'loading' }, 'Loading…'));
    try {
      const answer = await requestApi<WalkForward>('api/self-test/walk-forward');
      body.removeAttribute('aria-live');
      replaceChildren(body, renderWalkForward(answer));
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      isRequested = false;
      replaceChildren(body, h('p', { class: 'trouble' }, `${error.message}.`));
    }
  }
}
