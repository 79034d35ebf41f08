import { z } from 'zod';
import { HORIZONS, type HorizonName, horizonName } from './forecast/model.ts';

/** Horizons of the record, as answers spell them. */
export const HORIZON_NAMES: readonly HorizonName[] = HORIZONS.map(horizonName);

/** Horizons that the interface lists for signals (section 4); `1d` is accepted beside them, and is in no default. */
export const SIGNAL_HORIZONS = ['2d', '3d', '7d'] as const satisfies HorizonName[];

/** The horizon of the daily story, which every list defaults to. */
export const DEFAULT_HORIZON = '7d' satisfies HorizonName;

export const HORIZON_RULE = `must be one of ${HORIZON_NAMES.join(', ')}, or the number alone`;

const HORIZONS_RULE = `must be all, or names of ${HORIZON_NAMES.join(', ')} separated by commas`;

/** Longest list that is read; repetitions count. */
const MAX_NAMES = 20;

/** Pattern of one name, with or without its letter. */
const NAME = `[${HORIZONS.join('')}]d?`;

const DESCRIPTION = 'Days from the opening of the outcome window to its end';

/** The horizons, spelled `7d`, `7` or the number 7; read as `7d`. Schemas for clients list all of them. */
export const recordHorizonInput = z.preprocess(toHorizonName, z.enum(HORIZON_NAMES, { error: HORIZON_RULE })).describe(DESCRIPTION);

/** The same, of a signal: schemas for clients list the enumeration of the interface. */
export const signalHorizonInput = z
  .preprocess(toHorizonName, z.enum(HORIZON_NAMES, { error: HORIZON_RULE }).meta({ enum: [...SIGNAL_HORIZONS] }))
  .describe(`${DESCRIPTION}; 1d is accepted too, and the number alone, such as 7`);

/** Several horizons as text: `all`, or names separated by commas such as `2d,7`; read as names, each once, shortest first. */
export const horizonsInput = z
  .string({ error: HORIZONS_RULE })
  .regex(new RegExp(`^(all|${NAME}(,${NAME}){0,${MAX_NAMES - 1}})$`), HORIZONS_RULE)
  .transform((text): HorizonName[] => {
    const named = text === 'all' ? HORIZON_NAMES : text.split(',').map(toHorizonName);
    return HORIZON_NAMES.filter((name) => named.includes(name));
  });

/** Days of a horizon's name. */
export function horizonDaysOf(horizon: HorizonName): number {
  return Number.parseInt(horizon, 10);
}

/** What is no horizon is returned as it came: the schema rejects it. */
function toHorizonName(value: unknown): unknown {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^\d$/.test(value));
  return isNumber ? `${value}d` : value;
}
