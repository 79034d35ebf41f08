import { formatTime } from './forecast.ts';
import {
  EMPTY_VALUE,
  el,
  formatCount,
  formatDecimal,
  formatPercent,
  formatPercentInterval,
  type Markup,
  type MarkupElement,
  toSentence,
} from './markup.ts';
import { type Column, renderTable } from './table.ts';

interface ChallengeFigures {
  horizon: string;
  comparisons: readonly (Record<'challenger' | 'against' | 'verdict', string> &
    Record<'days' | 'eBetter' | 'eWorse', number> & { since: string | null })[];
  distributions: readonly (Record<'name' | 'title', string> &
    Record<'n' | 'crps' | 'logScore', number> & {
      skill: { value: number; low: number | null; high: number | null } | null;
      coverage: readonly { nominal: number; value: number }[];
    })[];
}

type SelfTestStatus = Record<'test' | 'path' | 'state', string> &
  Record<'verdict' | 'reason' | 'lastRunAt' | 'nextDueAt', string | null> & { overdue: boolean };

interface Challenge {
  champion: string;
  changes: readonly { at: string; from: string; to: string; forced: boolean }[];
  horizons: readonly ChallengeFigures[];
}

/** The model versions against each other, and the scores of all distributions. */
export function renderModels({ champion, changes, horizons }: Challenge): MarkupElement {
  const changed = changes.map(
    ({ at, from, to, forced }) => `${from} to ${to} on ${at.slice(0, 10)}${forced ? ', against the evidence' : ''}`,
  );
  return renderEvidence('Models', 'api/svc/challenge', [
    el('p', {}, [
      `The service forecasts by ${champion}. Both versions commit their distribution each day, in the same attestation; evidence of 20 proves `,
      'a difference at 5\u00a0%, whenever one looks. ',
      el('a', { href: 'documents/model' }, 'Model card'),
    ]),
    changed.length > 0 && el('p', {}, `Changes of champion: ${changed.join('; ')}.`),
    renderTable({
      caption: 'Evidence between model versions',
      columns: EVIDENCE_COLUMNS,
      rows: horizons.flatMap(({ horizon, comparisons }) => comparisons.map((comparison) => ({ horizon, ...comparison }))),
    }),
    renderTable({
      caption: 'Scores of all distributions, baselines included',
      columns: DISTRIBUTION_COLUMNS,
      rows: horizons.flatMap(({ horizon, distributions }) => distributions.map((distribution) => ({ horizon, ...distribution }))),
    }),
  ]);
}

const EVIDENCE_COLUMNS: readonly Column<{ horizon: string } & ChallengeFigures['comparisons'][number]>[] = [
  { heading: 'Horizon', cell: ({ horizon }) => horizon },
  { heading: 'Challenger', cell: ({ challenger, against }) => `${challenger} against ${against}` },
  { heading: 'Days', cell: ({ days }) => formatCount(days), numeric: true },
  { heading: 'Better', cell: ({ eBetter }) => formatDecimal(eBetter, 2), numeric: true },
  { heading: 'Worse', cell: ({ eWorse }) => formatDecimal(eWorse, 2), numeric: true },
  { heading: 'Verdict', cell: ({ verdict, since }) => (since === null ? verdict : `${verdict} since ${since}`) },
];

const DISTRIBUTION_COLUMNS: readonly Column<{ horizon: string } & ChallengeFigures['distributions'][number]>[] = [
  { heading: 'Horizon', cell: ({ horizon }) => horizon },
  { heading: 'Distribution', cell: ({ name, title }) => `${name}: ${title}` },
  { heading: 'n', cell: ({ n }) => formatCount(n), numeric: true },
  { heading: 'CRPS', cell: ({ crps }) => formatDecimal(crps, 5), numeric: true },
  { heading: 'Skill', cell: ({ skill }) => formatPercent(skill?.value, 2), numeric: true },
  { heading: '95 % interval', cell: ({ skill }) => formatInterval(skill), numeric: true },
  { heading: 'Log score', cell: ({ logScore }) => formatDecimal(logScore, 3), numeric: true },
  { heading: 'Within 80 %', cell: ({ coverage }) => formatPercent(coverage.find(({ nominal }) => nominal === 0.8)?.value), numeric: true },
];

function formatInterval(interval: { low: number | null; high: number | null } | null): string {
  if (interval === null || interval.low === null || interval.high === null) return EMPTY_VALUE;
  return formatPercentInterval({ low: interval.low, high: interval.high }, 2);
}

/** What the self-tests found, and when. */
export function renderSelfTests({ tests, codeVersion }: { tests: readonly SelfTestStatus[]; codeVersion: string }): MarkupElement {
  const [done, late] = [tests.filter(({ state }) => state === 'done'), tests.filter(({ overdue }) => overdue)];
  return renderEvidence('Self-tests', 'api/self-test/status', [
    el('p', {}, `${done.length} of ${tests.length} have a result; ${late.length === 0 ? 'none' : late.length} overdue.`),
    el('p', { class: 'quiet' }, `A result is not a verdict on the model: read what it found. Code ${codeVersion.slice(0, 22)}.`),
    renderTable({ caption: 'Self-tests of the service', columns: SELF_TEST_COLUMNS, rows: tests }),
  ]);
}

const SELF_TEST_COLUMNS: readonly Column<SelfTestStatus>[] = [
  { heading: 'Test', cell: ({ test, path }) => el('a', { href: path.replace(/^\//, '') }, formatTestName(test)) },
  { heading: 'State', cell: formatTestState },
  { heading: 'Found', cell: ({ verdict, reason }) => el('span', { class: 'long' }, toSentence(verdict ?? reason ?? 'not run yet')) },
  { heading: 'Run', cell: ({ lastRunAt }) => (lastRunAt === null ? EMPTY_VALUE : formatTime(lastRunAt)) },
  { heading: 'Next due', cell: ({ nextDueAt }) => (nextDueAt === null ? EMPTY_VALUE : formatTime(nextDueAt)) },
];

function formatTestName(test: string): string {
  return `${test.slice(0, 1).toUpperCase()}${test.slice(1).replaceAll('-', ' ')}`;
}

function formatTestState({ state, overdue }: SelfTestStatus): string {
  if (state === 'failed') return '✗ failed';
  if (overdue) return '! overdue';
  return state === 'done' ? '✓ run' : '… not run yet';
}

function renderEvidence(title: string, json: string, content: Markup): MarkupElement {
  return el('main', { id: 'main', tabindex: -1 }, [
    el('h1', {}, title),
    el('section', { 'aria-label': title }, content),
    el('p', { class: 'quiet' }, 'As JSON, which other clients than browsers get: ', el('code', {}, json), '.'),
  ]);
}
