import { ApiProblem, requestApi } from '../api.ts';
import { renderFoldsChart } from '../charts/over-time.ts';
import { createTimeFigure } from '../charts/time-figure.ts';
import {
  createTime,
  formatDecimal,
  formatPercent,
  formatPercentInterval,
  getSectionBody,
  h,
  replaceChildren,
  shortenHex,
  toSentence,
} from '../dom.ts';
import type { ApiResponses, WalkForward } from '../responses.ts';
import { type Column, createAsOfLine, mountResource, renderTable } from '../section.ts';
import type { Page } from '../state.ts';

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

/** Folds and leak canaries of the walk-forward test. */
function renderWalkForward({ report, dataDigest, firstDay, lastDay, simulated }: WalkForward) {
  // The longest horizon is the reference.
  const horizon = report.horizons.at(-1);
  return [
    h('p', { class: 'quiet' }, [
      `Computed from ${firstDay} to ${lastDay}${simulated ? ' of a simulated market' : ''}; history digest `,
      h('code', { title: dataDigest }, shortenHex(dataDigest)),
      '.',
    ]),
    horizon === undefined || horizon.folds.length === 0
      ? h('p', { class: 'empty' }, 'The history is too short for one fold.')
      : createFoldsFigure(horizon),
    horizon === undefined ? null : h('p', {}, toSentence(horizon.verdict)),
    // Reports that were stored before there were versions have none.
    report.versions === undefined ? null : renderVersionsTable(report.versions),
    renderTable({
      caption: 'Canaries: tests that fail if future data leaks, each validated on deliberately leaking pipelines',
      columns: CANARY_COLUMNS,
      rows: report.canaries,
    }),
  ];
}

function createFoldsFigure({ folds, horizonDays }: WalkForward['report']['horizons'][number]) {
  const better = folds.filter(({ accuracy, base }) => accuracy > base).length;
  const equal = folds.filter(({ accuracy, base }) => accuracy === base).length;
  const points = folds.map((fold, index) => ({ ...fold, day: index + 1 }));
  return createTimeFigure({
    title: `Accuracy against always UP by fold, ${horizonDays} days ahead`,
    points: () => points,
    hasRanges: false,
    summary: () =>
      `Out of sample over ${folds.length} folds, the model was better in ${better}, equal in ${equal} and worse in ${folds.length - better - equal}.`,
    legend: () => [
      { label: 'model', mark: 'mark-oracle' },
      { label: 'always UP', mark: 'mark-always-up' },
    ],
    draw: renderFoldsChart,
    read: ({ fold, from, to, accuracy, base }) =>
      `Fold ${fold}, ${from} to ${to}: model ${formatPercent(accuracy)}, always UP ${formatPercent(base)}.`,
    columns: [
      { heading: 'Fold', cell: ({ fold }) => fold },
      { heading: 'From', cell: ({ from }) => h('span', { class: 'one-line' }, from) },
      { heading: 'To', cell: ({ to }) => h('span', { class: 'one-line' }, to) },
      { heading: 'Days', cell: ({ n }) => n, numeric: true },
      { heading: 'Model', cell: ({ accuracy }) => formatPercent(accuracy), numeric: true },
      { heading: 'Always UP', cell: ({ base }) => formatPercent(base), numeric: true },
      { heading: 'Brier', cell: ({ brier }) => formatDecimal(brier, 4), numeric: true },
      { heading: 'Base rate Brier', cell: ({ climatologyBrier }) => formatDecimal(climatologyBrier, 4), numeric: true },
      { heading: 'In the 80 % band', cell: ({ coverage80 }) => formatPercent(coverage80), numeric: true },
    ],
  }).element;
}

const CANARY_COLUMNS: Column<WalkForward['report']['canaries'][number]>[] = [
  { heading: 'Canary', cell: ({ name }) => h('span', { class: 'one-line' }, name) },
  { heading: 'Versions', cell: ({ versions = [] }) => h('span', { class: 'one-line' }, versions.join(', ')) },
  {
    heading: 'Found',
    cell: ({ passed }) =>
      passed === null ? 'not run' : h('span', { class: passed ? 'is-fresh' : 'is-failed' }, passed ? '✓ no leak' : '✗ a leak'),
  },
  {
    heading: 'Planted leaks caught',
    cell: ({ mutants }) => (mutants.length === 0 ? '–' : `${mutants.filter(({ caught }) => caught).length} of ${mutants.length}`),
  },
  { heading: 'Method', cell: ({ what }) => h('span', { class: 'long' }, what) },
];

type Version = WalkForward['report']['versions'][number];
/** CRPS gain and coverage of every model version, by horizon. */
function renderVersionsTable(versions: readonly Version[]) {
  const rows = versions.flatMap(({ name, horizons }) =>
    horizons.flatMap(({ horizon, pooled, lastLook }) => (pooled === null ? [] : [{ name: `${name} ${horizon}`, pooled, lastLook }])),
  );
  return renderTable({
    caption: `Model versions on the same days: gain is the CRPS below that of ${versions[0]?.name ?? 'the first'}, with its 95 % interval`,
    columns: [
      { heading: 'Version', cell: ({ name }) => name },
      { heading: 'Gain, all folds', cell: ({ pooled }) => formatGain(pooled.gain), numeric: true },
      { heading: 'Gain, folds looked at once', cell: ({ lastLook }) => formatGain(lastLook?.gain ?? null), numeric: true },
      ...[0, 1, 2].map((index) => ({
        heading: `In the ${['50', '80', '90'][index]} % band`,
        cell: ({ pooled }: (typeof rows)[number]) => formatPercent(pooled.coverage[index]?.value ?? null),
        numeric: true,
      })),
    ],
    rows,
  });
}

function formatGain(gain: NonNullable<Version['horizons'][number]['pooled']>['gain']): string {
  if (gain === null || gain.low === null || gain.high === null) return formatPercent(gain?.value, 2);
  return `${formatPercent(gain.value, 2)} (${formatPercentInterval({ low: gain.low, high: gain.high }, 2)})`;
}
