import { computePositionSize, MAX_ACCOUNT_USD, MAX_RISK_PERCENT, type PositionSize } from '../../../forecast/move.ts';
import { formatRegime, formatUsd } from '../../markup.ts';
import { renderForestPlot } from '../charts/calibration.ts';
import { createFigure } from '../charts/figure.ts';
import {
  formatCount,
  formatDecimal,
  formatPercent,
  formatPercentInterval,
  formatUsdCents,
  h,
  replaceChildren,
  toSentence,
} from '../dom.ts';
import type { ApiResponses } from '../responses.ts';
import { type Column, mountResource, renderNotYet, renderTable } from '../section.ts';
import type { Page } from '../state.ts';
import { drawInto } from '../today.ts';
import { createReliabilityFigure, formatSignedShare } from './skill.ts';

type Scorecard = ApiResponses['scorecard'];
type MoveSkill = Scorecard['moveSkill'];
/** GARCH is shown without a test. */
type Tests = Partial<Record<keyof typeof REFERENCES, MoveSkill['tests']['ewma']>>;

const REFERENCES = { frequency: 'Four-year frequency', ewma: 'EWMA volatility', garch: 'GARCH' } as const;

/** What the record shows of the size of the move, and a calculator that uses it. */
export function mountMove({ store }: Page, body: HTMLElement) {
  const [skill, calculator] = [h('div', {}), h('div', {})];
  replaceChildren(
    body,
    skill,
    h('details', { class: 'more-of' }, h('summary', {}, 'Position size: what an account may lose at its stop'), calculator),
  );
  mountResource({ store, name: 'scorecard', body: skill, draw: renderMoveSkill });
  mountPositionSize(store, calculator);
}

/** It has no direction. */
function renderMoveSkill({ moveSkill, moveVerdict }: Scorecard) {
  if (moveSkill.n === 0) return renderNotYet('No outcome with a size of the move is known yet.');
  return [
    h('p', {}, toSentence(moveVerdict)),
    h('div', { class: 'pair' }, createReferenceFigure(moveSkill), renderSizes(moveSkill)),
    h('details', { class: 'more-of' }, [h('summary', {}, 'Reliability of P(big move)'), createReliabilityOfMoves(moveSkill)]),
  ];
}

function createReferenceFigure({ references, tests }: MoveSkill) {
  const rows = (Object.keys(REFERENCES) as (keyof typeof REFERENCES)[]).map((name) => {
    const [label, score, test] = [REFERENCES[name], references[name], (tests as Tests)[name]];
    const { value = null, low = null, high = null } = score ?? {};
    const verdict = test === undefined ? 'not tested' : test.since === null ? test.verdict : `${test.verdict} since ${test.since}`;
    const isDrawn = value !== null && low !== null && high !== null;
    const interval = isDrawn ? ` (${formatSignedShare(low)} to ${formatSignedShare(high)})` : ', no interval yet';
    const figures = value === null ? 'not known yet' : `${formatSignedShare(value)}${interval}`;
    return { ...{ label, low, high, figures, score, test, verdict }, value: isDrawn ? value : null, remark: verdict };
  });
  return createFigure({
    title: 'P(big move) against its references',
    summary: rows.some(({ value }) => value !== null)
      ? 'A bar clear of zero differs on these days; the verdict counts no replayed day.'
      : 'Too few days for an interval.',
    legend: [{ label: 'lower Brier score than the reference, 95 % interval', mark: 'mark-estimate' }],
    draw: (width) => renderForestPlot({ width, rows, reference: 0, sides: ['worse', 'better'], tick: formatSignedShare }),
    columns: [
      { heading: 'Reference', cell: ({ label }) => label },
      { heading: 'n', cell: ({ score }) => formatCount(score?.n), numeric: true },
      { heading: 'Brier', cell: ({ score }) => formatDecimal(score?.own, 4), numeric: true },
      { heading: 'of reference', cell: ({ score }) => formatDecimal(score?.brier, 4), numeric: true },
      { heading: 'Lower by', cell: ({ score }) => formatPercent(score?.value), numeric: true },
      { heading: '95 % from', cell: ({ low }) => formatPercent(low), numeric: true },
      { heading: 'to', cell: ({ high }) => formatPercent(high), numeric: true },
      { heading: 'Days tested', cell: ({ test }) => formatCount(test?.days), numeric: true },
      { heading: 'Evidence better', cell: ({ test }) => formatDecimal(test?.eBetter, 2), numeric: true },
      { heading: 'worse', cell: ({ test }) => formatDecimal(test?.eWorse, 2), numeric: true },
      { heading: 'Verdict', cell: ({ verdict }) => verdict },
    ],
    rows,
  });
}

function renderSizes({ bySize }: MoveSkill) {
  return renderTable({
    caption: 'Big moves by size',
    columns: [
      { heading: 'Size', cell: ({ moveSize }) => formatRegime(moveSize) },
      { heading: 'Days', cell: ({ n }) => formatCount(n), numeric: true },
      { heading: 'Big moves', cell: ({ bigShare }) => formatPercent(bigShare, 0), numeric: true },
      { heading: '95 % interval', cell: ({ interval95 }) => formatPercentInterval(interval95, 0), numeric: true },
    ],
    rows: bySize,
  });
}

function createReliabilityOfMoves({ reliability, n }: MoveSkill) {
  const titles = { title: 'P(big move): forecast and observed', saidTitle: 'P(big move)', happenedTitle: 'share of big moves' };
  return createReliabilityFigure({ reliability, n, ...titles });
}

/** A trade that loses the risk at its stop, by the newest forecast of the chosen horizon. */
function mountPositionSize(store: Page['store'], body: HTMLElement) {
  const result = h('div', { role: 'status' });
  const createInput = (id: string, value: number, max: number) =>
    h('input', { id, type: 'number', min: 0, max, step: 'any', value, required: true, oninput: () => draw() });
  const [risk, account] = [createInput('risk', 1, MAX_RISK_PERCENT), createInput('account-usd', 10_000, MAX_ACCOUNT_USD)];
  const limits = `the risk at most ${MAX_RISK_PERCENT}\u00a0%, the account at most ${formatUsd(MAX_ACCOUNT_USD)}`;
  // What is read aloud is replaced only where it has changed.
  const draw = () => drawInto(result, renderResult);
  function renderResult() {
    const { answer: signal } = store.get('signal');
    const isUsable = [risk, account].every(({ validity, valueAsNumber }) => validity.valid && valueAsNumber > 0);
    if (!isUsable) return h('p', { class: 'bad' }, `Both are above 0, ${limits}.`);
    if (!signal?.moveLimits) return h('p', { class: 'empty' }, 'No width of the move is known.');
    const { horizon, btcPrice, moveLimits } = signal;
    const size = computePositionSize({ riskPercent: risk.valueAsNumber, accountUsd: account.valueAsNumber }, { ...moveLimits, btcPrice });
    const caption = `Loses ${formatUsdCents(size.riskUsd)} at its stop; ${horizon} forecast around ${formatUsd(btcPrice)}`;
    const rows = (['Long', 'Short'] as const).map((side) => ({ side, size }));
    return renderTable({ caption, columns: POSITION_COLUMNS, rows });
  }
  replaceChildren(
    body,
    h('form', { class: 'endpoint', onsubmit: (event) => event.preventDefault() }, [
      ...[h('label', { for: risk.id }, 'Risk, % of the account'), risk],
      ...[h('label', { for: account.id }, 'Account, USD'), account],
    ]),
    result,
    h(
      'p',
      { class: 'note' },
      'By the model, one end in ten is beyond a stop. Without fees, funding, gaps and slippage. No advice to trade.',
    ),
  );
  store.watch('signal', draw);
}

const POSITION_COLUMNS: readonly Column<{ side: 'Long' | 'Short'; size: PositionSize }>[] = [
  { heading: 'Side', cell: ({ side }) => side },
  { heading: 'Stop distance', cell: ({ side, size }) => formatPercent(size[`stopPercent${side}`] / 100, 2), numeric: true },
  { heading: 'Size', cell: ({ side, size }) => formatUsdCents(size[`positionUsd${side}`]), numeric: true },
  { heading: 'BTC', cell: ({ side, size }) => formatDecimal(size[`positionBtc${side}`], 6), numeric: true },
  { heading: 'Leverage', cell: ({ side, size }) => formatDecimal(size[`leverage${side}`], 2), numeric: true },
];
