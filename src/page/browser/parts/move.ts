import { computePositionSize, MAX_ACCOUNT_USD, MAX_RISK_PERCENT, type PositionSize } from '../../../forecast/move.ts';
import { el, formatCount, formatDecimal, formatPercent, formatPercentInterval, formatRegime, formatUsd, toSentence } from '../../markup.ts';
import { type Column, renderTable } from '../../table.ts';
import { renderForestPlot } from '../charts/calibration.ts';
import { renderFigure } from '../charts/figure.ts';
import { formatUsdCents } from '../dom.ts';
import type { ApiResponses } from '../responses.ts';
import type { Page } from '../state.ts';
import { draw, drawSafely, mountResource, renderNotYet } from '../view.ts';
import { createReliabilityFigure, formatSignedShare } from './skill.ts';

type Scorecard = ApiResponses['scorecard'];
type MoveSkill = Scorecard['moveSkill'];
/** GARCH is shown without a test. */
type Tests = Partial<Record<keyof typeof REFERENCES, MoveSkill['tests']['ewma']>>;

const REFERENCES = { frequency: 'Four-year frequency', ewma: 'EWMA volatility', garch: 'GARCH' } as const;

/** What the record shows of the size of the move, and a calculator that uses it. */
export function mountMove({ store }: Page, body: HTMLElement) {
  const summary = el('summary', {}, 'Position size: what an account may lose at its stop');
  draw(body, el('div'), el('details', { class: 'more-of' }, summary, el('div')));
  const [skill, calculator] = body.querySelectorAll('div');
  mountResource({ store, name: 'scorecard', body: skill, draw: renderMoveSkill });
  mountPositionSize(store, calculator);
}

/** It has no direction. */
function renderMoveSkill({ moveSkill, moveVerdict }: Scorecard) {
  if (moveSkill.n === 0) return renderNotYet('No outcome with a size of the move is known yet.');
  return [
    el('p', {}, toSentence(moveVerdict)),
    el('div', { class: 'pair' }, createReferenceFigure(moveSkill), renderSizes(moveSkill)),
    el('details', { class: 'more-of' }, [el('summary', {}, 'Reliability of P(big move)'), createReliabilityOfMoves(moveSkill)]),
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
  return renderFigure({
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
  // Not a number while it cannot be used.
  const values = { risk: 1, 'account-usd': 10_000 };
  const limits = `the risk at most ${MAX_RISK_PERCENT}\u00a0%, the account at most ${formatUsd(MAX_ACCOUNT_USD)}`;
  function renderResult() {
    const { answer: signal } = store.get('signal');
    const { risk: riskPercent, 'account-usd': accountUsd } = values;
    if (!(riskPercent > 0 && accountUsd > 0)) return el('p', { class: 'bad' }, `Both are above 0, ${limits}.`);
    if (!signal?.moveLimits) return el('p', { class: 'empty' }, 'No width of the move is known.');
    const { horizon, btcPrice, moveLimits } = signal;
    const size = computePositionSize({ riskPercent, accountUsd }, { ...moveLimits, btcPrice });
    const caption = `Loses ${formatUsdCents(size.riskUsd)} at its stop; ${horizon} forecast around ${formatUsd(btcPrice)}`;
    return renderTable({ caption, columns: POSITION_COLUMNS, rows: (['Long', 'Short'] as const).map((side) => ({ side, size })) });
  }
  const renderInput = (id: keyof typeof values, label: string, max: number) => {
    const oninput = ({ currentTarget: { validity, valueAsNumber } }: { currentTarget: HTMLInputElement }) => {
      values[id] = validity.valid ? valueAsNumber : Number.NaN;
      redraw();
    };
    const attributes = { id, type: 'number', min: 0, max, step: 'any', defaultValue: values[id] || null, required: true, oninput };
    return [el('label', { for: id }, label), el('input', attributes)];
  };
  const redraw = () =>
    draw(
      body,
      el('form', { class: 'endpoint', onsubmit: (event: Event) => event.preventDefault() }, [
        renderInput('risk', 'Risk, % of the account', MAX_RISK_PERCENT),
        renderInput('account-usd', 'Account, USD', MAX_ACCOUNT_USD),
      ]),
      el('div', { role: 'status' }, drawSafely(renderResult)),
      el(
        'p',
        { class: 'note' },
        'By the model, one end in ten is beyond a stop. Without fees, funding, gaps and slippage. No advice to trade.',
      ),
    );
  store.watch('signal', redraw);
}

const POSITION_COLUMNS: readonly Column<{ side: 'Long' | 'Short'; size: PositionSize }>[] = [
  { heading: 'Side', cell: ({ side }) => side },
  { heading: 'Stop distance', cell: ({ side, size }) => formatPercent(size[`stopPercent${side}`] / 100, 2), numeric: true },
  { heading: 'Size', cell: ({ side, size }) => formatUsdCents(size[`positionUsd${side}`]), numeric: true },
  { heading: 'BTC', cell: ({ side, size }) => formatDecimal(size[`positionBtc${side}`], 6), numeric: true },
  { heading: 'Leverage', cell: ({ side, size }) => formatDecimal(size[`leverage${side}`], 2), numeric: true },
];
