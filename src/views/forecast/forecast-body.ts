import { el, type Markup } from '../markup.ts';
import { type AttestationFacts, type ForecastFacts, formatForecastPath } from './forecast-facts.ts';
import { describeForecast, STATE_LABELS, STATE_MARKS } from './forecast-state.ts';
import { listSteps, renderSteps } from './forecast-timeline.ts';
import { renderValues } from './forecast-values.ts';
import { formatDate, formatDayAndMonth } from './format.ts';

/** `7-day forecast of 22 Nov 2026`. */
export function formatForecastTitle({ date, horizonDays }: Pick<ForecastFacts, 'date' | 'horizonDays'>): string {
  return `${horizonDays}-day forecast of ${formatDate(date)}`;
}

/** The page of one forecast. The script enables the buttons `#check` and `#share`. */
export function renderForecast(facts: ForecastFacts): Markup {
  const { date, horizonDays, sequence, state } = facts;
  return el('main', { id: 'main', class: 'forecast', tabindex: -1, 'data-horizon': horizonDays, 'data-sequence': sequence }, [
    el('h1', {}, formatForecastTitle(facts)),
    el('p', { class: 'forecast-state' }, [
      el('strong', { class: `status ${STATE_MARKS[state]}` }, STATE_LABELS[state]),
      ` ${describeForecast(facts)}`,
    ]),
    renderOrigin(facts),
    renderActions(facts),
    renderSection('timeline', 'Timeline', renderSteps(listSteps(facts))),
    renderSection('values', 'Forecast and outcome', renderValues(facts)),
    renderSection('attestations', 'On chain', renderAttestations(facts)),
    renderNeighbours(date, facts),
  ]);
}

function renderOrigin({ isSimulated, isReplayed }: ForecastFacts): Markup {
  if (!isSimulated && !isReplayed) return null;
  const origin = isSimulated ? 'The market data are simulated.' : 'A past day, replayed by the demo.';
  return el('p', { class: 'notice' }, origin);
}

function renderActions({ date, horizonDays, sequence, committed }: ForecastFacts): Markup {
  const json = `api/svc/scorecard?horizon=${horizonDays}&limit=1&before=${sequence + 1}`;
  return el('div', { class: 'forecast-actions' }, [
    el('div', { class: 'forecast-buttons' }, [
      committed !== null && el('button', { id: 'check', type: 'button', class: 'primary', disabled: true }, 'Check this forecast'),
      el('button', { id: 'share', type: 'button', disabled: true }, 'Share'),
      el('a', { href: json }, 'JSON', el('span', { class: 'visually-hidden' }, ` of ${date}`)),
      el('span', { id: 'share-status', role: 'status' }),
    ]),
    el('noscript', {}, el('p', { class: 'quiet' }, 'Checking and sharing need JavaScript.')),
    el('div', { id: 'check-result', role: 'status' }),
    el('div', { id: 'check-endpoint' }),
  ]);
}

function renderSection(id: string, title: string, content: Markup): Markup {
  return el('section', { id, 'aria-labelledby': `${id}-title` }, el('h2', { id: `${id}-title` }, title), content);
}

function renderAttestations({ committed, revealed, isLocalChain }: ForecastFacts): Markup {
  const place = isLocalChain ? 'On the local chain of this demo, which no explorer shows.' : null;
  return [
    el('dl', { class: 'attestations-of' }, [
      renderAttestation('Prediction', committed, 'Not on chain yet.'),
      renderAttestation('Resolution', revealed, 'After the outcome.'),
    ]),
    place && el('p', { class: 'quiet' }, place),
  ];
}

function renderAttestation(name: string, made: AttestationFacts | null, otherwise: string): Markup {
  if (made === null) return el('div', {}, el('dt', {}, name), el('dd', { class: 'quiet' }, otherwise));
  const { uid, txHash, block, explorerUrl } = made;
  return el('div', {}, [
    el('dt', {}, name),
    el('dd', {}, [
      el('code', {}, explorerUrl === null ? uid : el('a', { href: explorerUrl }, uid)),
      el('span', { class: 'quiet' }, ['Block ', block, ', transaction ', el('code', {}, txHash)]),
      el('a', { href: `api/svc/onchain-oracle/verify/${uid}` }, `Checked by the service, JSON`),
    ]),
  ]);
}

function renderNeighbours(date: string, { horizonDays, previousDate, nextDate, horizons }: ForecastFacts): Markup {
  const toDay = (other: string | null, rel: string, format: (day: string) => string) =>
    other !== null && el('a', { href: formatForecastPath(other, horizonDays), rel }, format(formatDayAndMonth(other)));
  const days = horizons.map((days) =>
    el('a', { href: formatForecastPath(date, days), 'aria-current': days === horizonDays && 'page' }, `${days}-day`),
  );
  return el('nav', { class: 'neighbours', 'aria-label': 'Other forecasts' }, [
    toDay(previousDate, 'prev', (day) => `← ${day}`),
    days,
    toDay(nextDate, 'next', (day) => `${day} →`),
    el('a', { href: 'f' }, 'All forecasts'),
  ]);
}
