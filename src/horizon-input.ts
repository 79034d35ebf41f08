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

const DESCRIPTION = 'Days from the opening of the outcome window to its end';

/** The horizons, spelled `7d`, `7` or the number 7; read as `7d`. Schemas for clients list all of them. */
export const recordHorizonInput = z.preprocess(toHorizonName, z.enum(HORIZON_NAMES, { error: HORIZON_RULE })).describe(DESCRIPTION);

/** The same, of a signal: schemas for clients list the enumeration of the interface. */
export const signalHorizonInput = z
  .preprocess(toHorizonName, z.enum(HORIZON_NAMES, { error: HORIZON_RULE }).meta({ enum: [...SIGNAL_HORIZONS] }))
  .describe(`${DESCRIPTION}; 1d is accepted too, and the number alone, such as 7`);

/** Several horizons: `all`, or names separated by commas such as `2d,7` (or a list of them); read as names, each once, shortest first. */
export const horizonsInput = z.unknown().transform((value, context): HorizonName[] => {
  const names = z.array(z.enum(HORIZON_NAMES)).min(1).max(MAX_NAMES).safeParse(toHorizonNames(value));
  if (names.success) return HORIZON_NAMES.filter((name) => names.data.includes(name));
  context.issues.push({ code: 'custom', message: HORIZONS_RULE, input: value });
  return z.NEVER;
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

function toHorizonNames(value: unknown): unknown {
  if (value === 'all') return [...HORIZON_NAMES];
  const names = typeof value === 'string' ? value.split(',', MAX_NAMES + 1) : value;
  return Array.isArray(names) ? names.map(toHorizonName) : names;
}
