import { z } from 'zod';
import { formatHorizonName, HORIZONS, type HorizonName } from './model.ts';

export const HORIZON_NAMES: readonly HorizonName[] = HORIZONS.map(formatHorizonName);
/** Signal horizons that the interface names (section 1); `1d` is accepted wherever they are, but in no default. */
export const SIGNAL_HORIZONS = ['2d', '3d', '7d'] as const satisfies HorizonName[];
export const DEFAULT_HORIZON = '7d' satisfies HorizonName;
export const HORIZON_RULE = `must be one of ${HORIZON_NAMES.join(', ')}, or the number alone`;
const HORIZON_LIST_RULE = `must be all, or names of ${HORIZON_NAMES.join(', ')} separated by commas`;
/** Horizons, shortest first; null means all. */
export type HorizonChoice = readonly HorizonName[] | null;
/** Maximum length of a list, duplicates included. */
const MAX_NAMES = 20;
const HORIZON_PATTERN = `[${HORIZONS.join('')}]d?`;
export const HORIZON_DESCRIPTION = 'Days from the opening of the outcome window to its end';
/** All spellings in text: `7d` and `7`. */
export const HORIZON_SPELLINGS = [...HORIZON_NAMES, ...HORIZONS.map((days): `${typeof days}` => `${days}`)];

/** JSON Schema of everything that is parsed as a horizon. */
export const HORIZON_SCHEMA = {
  anyOf: [
    { type: 'integer', enum: [...HORIZONS] },
    { type: 'string', enum: [...HORIZON_SPELLINGS] },
  ],
};

/** A horizon as `7d`, `7` or the number 7, parsed to `7d`. The schemas that models read list the names alone. */
export const recordHorizonInput = z.preprocess(toHorizonName, z.enum(HORIZON_NAMES, { error: HORIZON_RULE })).describe(HORIZON_DESCRIPTION);

export const HORIZONS_PATTERN = new RegExp(`^(all|${HORIZON_PATTERN}(,${HORIZON_PATTERN}){0,${MAX_NAMES - 1}})$`);

/** `all`, or comma-separated names such as `2d,7`. */
export const horizonsInput = z
  .string({ error: HORIZON_LIST_RULE })
  .regex(HORIZONS_PATTERN, HORIZON_LIST_RULE)
  .transform((text) => (text === 'all' ? null : sortHorizons(text.split(',').map(toHorizonName))));

export function sortHorizons(names: readonly unknown[]): readonly HorizonName[] {
  return HORIZON_NAMES.filter((name) => names.includes(name));
}

export function parseHorizonDays(horizon: HorizonName): number {
  return Number.parseInt(horizon, 10);
}

/** Appends the `d` to a digit; other values pass through to the schema, which rejects them. */
function toHorizonName(value: unknown): unknown {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^\d$/.test(value));
  return isNumber ? `${value}d` : value;
}
