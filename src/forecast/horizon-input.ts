import { z } from 'zod';
import { formatHorizonName, HORIZONS, type HorizonName } from './model.ts';

/** Horizons of the record, as answers spell them. */
export const HORIZON_NAMES: readonly HorizonName[] = HORIZONS.map(formatHorizonName);

/** Horizons that the interface lists for signals (section 4); `1d` is accepted beside them, and is in no default. */
export const SIGNAL_HORIZONS = ['2d', '3d', '7d'] as const satisfies HorizonName[];

/** The horizon of the daily story, which every list defaults to. */
export const DEFAULT_HORIZON = '7d' satisfies HorizonName;

export const HORIZON_RULE = `must be one of ${HORIZON_NAMES.join(', ')}, or the number alone`;

const HORIZON_LIST_RULE = `must be all, or names of ${HORIZON_NAMES.join(', ')} separated by commas`;

/** Several horizons, shortest first; null: all. */
export type HorizonChoice = readonly HorizonName[] | null;

/** Longest list that is read; repetitions count. */
const MAX_NAMES = 20;

/** Pattern of one name, with or without its letter. */
const HORIZON_PATTERN = `[${HORIZONS.join('')}]d?`;

const HORIZON_DESCRIPTION = 'Days from the opening of the outcome window to its end';

/** The horizons, spelled `7d`, `7` or the number 7; read as `7d`. Schemas for clients list all of them. */
export const recordHorizonInput = z.preprocess(toHorizonName, z.enum(HORIZON_NAMES, { error: HORIZON_RULE })).describe(HORIZON_DESCRIPTION);

/** The same, of a signal: schemas for clients list the enumeration of the interface. */
export const signalHorizonInput = z
  .preprocess(toHorizonName, z.enum(HORIZON_NAMES, { error: HORIZON_RULE }).meta({ enum: [...SIGNAL_HORIZONS] }))
  .describe(`${HORIZON_DESCRIPTION}; 1d is accepted too, and the number alone, such as 7`);

export const HORIZONS_PATTERN = new RegExp(`^(all|${HORIZON_PATTERN}(,${HORIZON_PATTERN}){0,${MAX_NAMES - 1}})$`);

/** Several horizons as text: `all`, or names separated by commas such as `2d,7`. */
export const horizonsInput = z
  .string({ error: HORIZON_LIST_RULE })
  .regex(HORIZONS_PATTERN, HORIZON_LIST_RULE)
  .transform((text) => (text === 'all' ? null : sortHorizons(text.split(',').map(toHorizonName))));

/** Names, each once and shortest first. */
export function sortHorizons(names: readonly unknown[]): readonly HorizonName[] {
  return HORIZON_NAMES.filter((name) => names.includes(name));
}

/** Days of a horizon's name. */
export function parseHorizonDays(horizon: HorizonName): number {
  return Number.parseInt(horizon, 10);
}

/** `7d` for `7d`, `7` and the number 7. A value that is no horizon is returned as it is: the schema rejects it. */
function toHorizonName(value: unknown): unknown {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^\d$/.test(value));
  return isNumber ? `${value}d` : value;
}
