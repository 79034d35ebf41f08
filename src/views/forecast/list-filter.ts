import { el, type Markup } from '../markup.ts';
import { formatRegimeName } from './format.ts';

export const LIST_STATES = ['committed', 'right', 'wrong', 'hold', 'void', 'missed'] as const;

/** As in the URL; an absent or empty value filters nothing. */
export interface ListFilter {
  horizon?: string;
  state?: string;
  direction?: string;
  regime?: string;
  from?: string;
  to?: string;
}

/** A plain form: a filter is its URL. */
export function renderListFilter(filter: ListFilter, regimes: readonly string[]): Markup {
  const days = ['1', '2', '3', '7'].map((value) => [value, `${value}-day`] as const);
  const states = LIST_STATES.map((value) => [value, formatRegimeName(value)] as const);
  return el('form', { class: 'list-filter', method: 'get', action: 'f', 'aria-label': 'Filter' }, [
    renderChoice('horizon', 'Horizon', days, filter.horizon),
    renderChoice('state', 'State', states, filter.state),
    renderChoice(
      'direction',
      'Revealed call',
      [
        ['UP', 'UP'],
        ['DOWN', 'DOWN'],
      ],
      filter.direction,
    ),
    renderChoice(
      'regime',
      'Regime',
      regimes.map((value) => [value, formatRegimeName(value)] as const),
      filter.regime,
    ),
    renderDate('from', 'From', filter.from),
    renderDate('to', 'To', filter.to),
    el('button', { type: 'submit' }, 'Filter'),
    Object.values(filter).some(Boolean) && el('a', { href: 'f' }, 'Clear'),
  ]);
}

function renderChoice(name: string, label: string, options: readonly (readonly [value: string, text: string])[], chosen = ''): Markup {
  const choices = options.map(([value, text]) => el('option', { value, selected: value === chosen }, text));
  return el('label', {}, el('span', {}, label), el('select', { name }, el('option', { value: '' }, 'All'), choices));
}

function renderDate(name: string, label: string, value = ''): Markup {
  return el('label', {}, el('span', {}, label), el('input', { type: 'date', name, value: value === '' ? null : value }));
}
