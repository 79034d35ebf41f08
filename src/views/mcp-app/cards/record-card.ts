import { formatDate } from '../../forecast/format.ts';
import { el, type Markup } from '../../markup.ts';
import { formatHorizon, renderCallButton, renderHorizonButtons } from '../call-button.ts';
import { type Fields, readFields, readInterval, readNumber, readText, readTime } from '../fields.ts';
import { renderCallFigures } from '../figures/call-figures.ts';
import { renderRows } from '../figures/drawn-row.ts';
import { listCoverageRows, listReliabilityRows } from '../figures/reliability-rows.ts';
import { listScoreRows } from '../figures/score-rows.ts';
import { toSentence } from '../sentence.ts';
import { renderNotes } from './notes.ts';
import { renderOutcomes } from './outcome-strip.ts';

const HORIZONS = ['1d', '2d', '3d', '7d'];

/** The record of a horizon, with as much of it as the answer has. */
export function renderRecordCard(answer: Fields): Markup {
  const filters = readFields(answer.filters);
  const statistics = readFields(answer.statistics);
  const horizon = readText(filters.horizon) || readText(answer.horizon);
  return [
    el('h1', { tabindex: -1 }, `Record of forecasts over ${formatHorizon(horizon)}`),
    renderSelection(filters, readTime(answer.asOf)),
    renderCalls(statistics),
    renderOutcomes(answer),
    renderSection(
      'Scores, against the base rate',
      renderRows(listScoreRows(statistics)),
      'Dashed: no difference. Bars are 95 % intervals.',
    ),
    renderSection('Probability said, and how often it rose', renderRows(listReliabilityRows(statistics)), 'Dashed: the probability said.'),
    renderSection('Outcomes within the ranges', renderRows(listCoverageRows(statistics)), 'Dashed: the share that was meant.'),
    renderNotes(answer),
    el('p', { class: 'actions' }, [
      statistics.probabilities === undefined ? renderMoreButton(filters) : null,
      renderHorizonButtons('record', HORIZONS, horizon),
      // 1-day forecasts are scored, and not sold.
      renderCallButton('forecast', 'Newest forecast', horizon === '1d' ? {} : { horizon }),
    ]),
  ];
}

function renderSelection({ from, to, regime, status }: Fields, asOf: string): Markup {
  const filters = [
    ['from', from],
    ['to', to],
    ['in the regime', regime],
    ['with the status', status],
  ] as const;
  const chosen = filters.flatMap(([word, value]) => (readText(value) === '' ? [] : `${word} ${readText(value)}`));
  const parts = [chosen.length === 0 ? 'All forecasts' : `Forecasts ${chosen.join(', ')}`, asOf === '' ? '' : `on ${formatDate(asOf)}`];
  return el('p', { class: 'quiet' }, parts.filter((part) => part !== '').join(', '));
}

/** A short answer has no reliability and no coverage: the same call in full has. */
function renderMoreButton(filters: Fields): Markup {
  const input = Object.fromEntries(Object.entries(filters).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])));
  return renderCallButton('record', 'Reliability', { ...input, detail: 'full' });
}

function renderCalls(statistics: Fields): Markup {
  const [wins, resolved] = [readNumber(statistics.wins), readNumber(statistics.resolved)];
  const figures = {
    accuracy: readNumber(statistics.accuracy),
    interval: readInterval(statistics.accuracyInterval95),
    alwaysUp: readNumber(statistics.alwaysUpAccuracy),
  };
  const verdict = toSentence(readText(statistics.verdict));
  return [
    wins === null || resolved === null || resolved === 0
      ? null
      : el('p', { class: 'lead' }, [el('strong', {}, `${wins} of ${resolved}`), ' calls right']),
    renderCallFigures(figures),
    verdict === '' ? null : el('p', {}, verdict),
    renderCounts(statistics),
  ];
}

function renderCounts(statistics: Fields): Markup {
  const counts = (['holds', 'voids', 'pending'] as const).flatMap((name) => {
    const count = readNumber(statistics[name]);
    return count === null ? [] : `${count} ${COUNT_LABELS[name]}`;
  });
  return counts.length === 0 ? null : el('p', { class: 'quiet' }, `Not scored: ${counts.join(', ')}.`);
}

const COUNT_LABELS = { holds: 'held', voids: 'void', pending: 'pending' } as const;

/** Left out with its title where the answer has no figures of it. */
function renderSection(title: string, rows: Markup, legend: string): Markup {
  return rows === null ? null : [el('h2', {}, title), rows, el('p', { class: 'quiet' }, legend)];
}
