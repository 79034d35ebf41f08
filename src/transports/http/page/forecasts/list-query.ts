import { z } from 'zod';
import { parseDay } from '../../../../forecast/day.ts';
import { HORIZON_NAMES, parseHorizonDays } from '../../../../forecast/horizon-input.ts';
import type { HorizonName } from '../../../../forecast/model.ts';
import { REGIME_NAMES } from '../../../../forecast/regime/regime.ts';
import { DIRECTION } from '../../../../record/schemas/forecast.ts';
import { LIST_STATES, type ListFilter } from '../../../../views/forecast/list-filter.ts';
import type { ForecastFilter } from './find-forecasts.ts';

const HORIZON_DIGITS = HORIZON_NAMES.map((name) => name.slice(0, -1));

/** A form sends its empty fields: they filter nothing. */
const oneOf = (options: readonly string[]) => z.enum(['', ...options], { error: `must be one of ${options.join(', ')}` }).optional();

const ID_RULE = 'must be the id of a forecast, such as 2026-11-22:7d';
const ID_PATTERN = new RegExp(`^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01]):[${HORIZON_DIGITS.join('')}]d$`);

export const LIST_QUERY = z.object({
  horizon: oneOf([...HORIZON_DIGITS, ...HORIZON_NAMES]).describe('Horizon in days; empty for all'),
  state: oneOf(LIST_STATES).describe('Only forecasts of this state; empty for all'),
  direction: oneOf(DIRECTION.options).describe('Only revealed forecasts of this direction; empty for all'),
  regime: oneOf(REGIME_NAMES).describe('Only forecasts of this regime; empty for all'),
  from: z
    .union([z.literal(''), z.iso.date()])
    .optional()
    .describe('First day, YYYY-MM-DD, UTC; empty for all'),
  to: z
    .union([z.literal(''), z.iso.date()])
    .optional()
    .describe('Last day, YYYY-MM-DD, UTC; empty for all'),
  before: z
    .string()
    .regex(ID_PATTERN, ID_RULE)
    .refine((id) => z.iso.date().safeParse(id.slice(0, 'YYYY-MM-DD'.length)).success, ID_RULE)
    .optional()
    .describe('Only forecasts before this id in the order of the list'),
});

export type ListQuery = z.output<typeof LIST_QUERY>;

/** The values that filter, by their parameters. */
export function pickFilter({ before, ...filter }: ListQuery): ListFilter {
  const chosen = Object.entries(filter).filter(([, value]) => value !== undefined && value !== '');
  return Object.fromEntries(chosen.map(([name, value]) => [name, name === 'horizon' ? String(value).charAt(0) : value]));
}

export function toForecastFilter({ horizon, state, direction, regime, from, to }: ListFilter): ForecastFilter {
  return {
    horizonDays: horizon === undefined ? null : parseHorizonDays(`${horizon}d` as HorizonName),
    state: (state as ForecastFilter['state']) ?? null,
    direction: (direction as ForecastFilter['direction']) ?? null,
    regime: (regime as ForecastFilter['regime']) ?? null,
    from: from === undefined ? null : parseDay(from),
    to: to === undefined ? null : parseDay(to),
  };
}

/** A path with its query; without parameters the path alone. */
export function formatListPath(path: string, filter: ListFilter, before?: string): string {
  const query = new URLSearchParams({ ...filter, ...(before === undefined ? {} : { before }) }).toString();
  return query === '' ? path : `${path}?${query}`;
}
