import { renderForecastChart } from '../../../../views/forecast/forecast-chart.ts';
import { type ForecastFacts, formatForecastPath } from '../../../../views/forecast/forecast-facts.ts';
import { formatBrier, STATE_LABELS } from '../../../../views/forecast/forecast-state.ts';
import { formatDate, formatReturn, formatShare, formatUsd } from '../../../../views/forecast/format.ts';
import { renderCard } from './card.ts';

const CLASSES: Partial<Record<ForecastFacts['state'], string>> = { right: 'strong good', wrong: 'strong bad' };

/** The query changes with the state, so that other sites fetch the image of a revealed forecast anew. */
export function getForecastPreviewPath({ date, horizonDays, state }: Pick<ForecastFacts, 'date' | 'horizonDays' | 'state'>): string {
  return `${formatForecastPath(date, horizonDays)}/preview.png?state=${state}`;
}

/** One image for all forecasts without an outcome, whatever they hold; a revealed one has its own. */
export function renderForecastCard(facts: ForecastFacts): string {
  if (facts.revealed !== null && facts.values !== null) return renderRevealedCard(facts, facts.values);
  const { state } = facts;
  if (state === 'void' || state === 'missed') return renderPlainCard(STATE_LABELS[state], 'It counts for nothing.');
  return renderPlainCard('Committed on chain', 'Hidden until its outcome, then revealed for anyone to verify.');
}

function renderPlainCard(title: string, line: string): string {
  return renderCard([
    { text: 'Bitcoin forecast', y: 270, size: 48 },
    { text: title, y: 370, size: 88, className: 'strong' },
    { text: line, y: 450, size: 36, className: 'quiet' },
  ]);
}

function renderRevealedCard(facts: ForecastFacts, { signal, direction, pUp }: NonNullable<ForecastFacts['values']>): string {
  const { state, date, horizonDays, price, isSimulated, brier } = facts;
  const source = isSimulated ? 'Simulated market' : 'Committed before, resolved on chain';
  const call = signal === 'HOLD' ? `HOLD, leaning ${direction}` : `${signal}, ${direction}`;
  return renderCard(
    [
      { text: `${horizonDays}-day forecast`, y: 190, size: 46 },
      { text: formatDate(date), y: 246, size: 46 },
      { text: STATE_LABELS[state], y: 362, size: 96, className: CLASSES[state] ?? 'strong' },
      { text: `${call}, P(up) ${formatShare(pUp)}`, y: 434, size: 32 },
      { text: `${formatUsd(price.atOpening)} to ${formatUsd(price.atEnd)}, ${formatReturn(price.returnBps)}`, y: 482, size: 32 },
      { text: `Brier score ${formatBrier(brier)}`, y: 530, size: 28, className: 'quiet' },
      { text: source, y: 580, size: 28, className: 'quiet' },
    ],
    renderForecastChart(facts, { x: 580, y: 140, width: 600, height: 350, overflow: 'visible' }),
  );
}
