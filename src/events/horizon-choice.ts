import { z } from 'zod';
import { DEFAULT_HORIZON, HORIZON_NAMES, type HorizonChoice, sortHorizons } from '../forecast/horizon-input.ts';
import { formatHorizonName, HORIZONS, type HorizonName } from '../forecast/model.ts';
import { withInputRules } from '../platform/validation/input-rules.ts';

export const DEFAULT_HORIZONS: readonly HorizonName[] = [DEFAULT_HORIZON];

/** One horizon or several; neither: the default. */
export interface HorizonFields {
  horizon?: HorizonName;
  horizons?: HorizonChoice;
}

const ALL = 'all';
const SPELLINGS = [...HORIZON_NAMES, ...HORIZONS.map((days): `${typeof days}` => `${days}`)];
const hasNoDuplicates = (values: readonly unknown[]) => new Set(values).size === values.length;

const ONE_RULE = `must be one of ${HORIZON_NAMES.join(', ')}, with or without the d; several go into horizons`;
const LIST_RULE = `must be a list of ${HORIZON_NAMES.join(', ')}, with or without the d, or "${ALL}"`;

/** One horizon in JSON: `"7d"`, `"7"` or `7`, parsed to `7d`. */
export const HORIZON_FIELD = z
  .union([z.enum(SPELLINGS), z.literal([...HORIZONS])], { error: ONE_RULE })
  .transform((value) => formatHorizonName(Number.parseInt(String(value), 10)));

/** Several horizons in JSON, or `"all"`, parsed to null. */
export const HORIZONS_FIELD = z.union(
  [
    withInputRules(
      z
        .array(HORIZON_FIELD)
        .min(1, 'must name at least one horizon')
        .max(HORIZONS.length, 'must name each of them once')
        .refine(hasNoDuplicates, { error: 'must name each of them once' }),
      { uniqueItems: true },
    ),
    z.literal(ALL).transform(() => null),
  ],
  { error: LIST_RULE },
);

export const ONE_CHOICE: [(fields: HorizonFields) => boolean, { path: string[]; error: string }] = [
  ({ horizon, horizons }) => horizon === undefined || horizons === undefined,
  { path: ['horizon'], error: 'cannot be sent together with horizons: send one of them' },
];

/** The same rule in JSON Schema; linters require the properties to be defined. */
export const ONE_CHOICE_RULE = { not: { properties: { horizon: {}, horizons: {} }, required: ['horizon', 'horizons'] } };

export function parseHorizonChoice({ horizon, horizons }: HorizonFields): HorizonChoice | undefined {
  if (horizon !== undefined) return [horizon];
  return horizons == null ? horizons : sortHorizons(horizons);
}
