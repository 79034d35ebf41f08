import type { RecordSummary } from '../../../../forecast/statistics/record-summary.ts';
import { el, type Markup } from '../../../../views/markup.ts';
import { renderCard } from './card.ts';

export type CardSummary = Pick<RecordSummary, 'accuracy' | 'accuracyInterval95' | 'alwaysUpAccuracy' | 'wins' | 'resolved'>;

const AXIS = { from: 76, to: 1_124, y: 500 };

/** The record of a horizon: its hit rate with the interval, beside always saying UP. */
export function renderDashboardCard(
  { accuracy, accuracyInterval95, alwaysUpAccuracy, wins, resolved }: CardSummary,
  { horizonDays, isSimulated }: { horizonDays: number; isSimulated: boolean },
): string {
  const headline = { text: 'A daily Bitcoin forecast', y: 216, size: 72, className: 'strong' };
  const promise = { text: 'Committed on chain before its outcome. Anyone can verify it.', y: 280, size: 34, className: 'quiet' };
  if (accuracy === null || accuracyInterval95 === null) {
    return renderCard([headline, promise, { text: 'No forecast is scored yet: no claim is made.', y: 400, size: 40 }]);
  }
  const { low, high } = accuracyInterval95;
  const always = alwaysUpAccuracy === null ? '' : `; always UP ${formatWhole(alwaysUpAccuracy)}`;
  return renderCard(
    [
      headline,
      promise,
      { text: `${horizonDays}-day record: ${wins} of ${resolved} right, ${formatWhole(accuracy)}`, y: 400, size: 44 },
      { text: `95 % interval ${formatWhole(low)} to ${formatWhole(high)}${always}`, y: 450, size: 32, className: 'quiet' },
      { text: isSimulated ? 'Simulated market' : '', y: 604, size: 28, className: 'quiet' },
    ],
    renderAxis({ accuracy, low, high, alwaysUpAccuracy }),
  );
}

function renderAxis({
  accuracy,
  low,
  high,
  alwaysUpAccuracy,
}: {
  accuracy: number;
  low: number;
  high: number;
  alwaysUpAccuracy: number | null;
}): Markup {
  const x = (share: number) => (AXIS.from + share * (AXIS.to - AXIS.from)).toFixed(1);
  const line = (className: string, from: number, to: number, height = 0) =>
    el('line', { class: className, x1: x(from), x2: x(to), y1: AXIS.y - height, y2: AXIS.y + height });
  return [
    line('axis', 0, 1),
    line('interval', low, high),
    alwaysUpAccuracy !== null && line('reference', alwaysUpAccuracy, alwaysUpAccuracy, 26),
    el('circle', { class: 'estimate', cx: x(accuracy), cy: AXIS.y, r: 16 }),
    [0, 0.5, 1].map((share) =>
      el('text', { x: x(share), y: AXIS.y + 52, 'font-size': 26, class: 'quiet', 'text-anchor': 'middle' }, formatWhole(share)),
    ),
  ];
}

function formatWhole(share: number): string {
  return `${(100 * share).toFixed(0)} %`;
}
