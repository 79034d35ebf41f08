import { z } from 'zod';
import { HORIZONS, type HorizonName, horizonName } from '../forecast/model.ts';
import { withInputRules } from '../input-rules.ts';

/** Horizons of a subscriber that names none: one story a day, over 7 days. */
export const DEFAULT_HORIZONS: readonly HorizonName[] = ['7d'];

/** Horizons of a subscriber; null: all. */
export type HorizonChoice = readonly HorizonName[] | null;

/** What a subscriber may send: one horizon, or several. Neither: the default. */
export interface HorizonFields {
  horizon?: HorizonName;
  horizons?: HorizonChoice;
}

const ALL = 'all';
const NAMES = HORIZONS.map(horizonName);
const SPELLINGS = [...NAMES, ...HORIZONS.map((days): `${typeof days}` => `${days}`)];
const toName = (value: string | number): HorizonName => horizonName(Number.parseInt(String(value), 10));
const unique = (values: readonly unknown[]) => new Set(values).size === values.length;

const ONE_RULE = `must be one of ${NAMES.join(', ')}, with or without the d; several go into horizons`;
const LIST_RULE = `must be a list of ${NAMES.join(', ')}, with or without the d, or "${ALL}"`;

/** One horizon in JSON: `"7d"`, `"7"` or `7`; parsed to `7d`. */
export const HORIZON_FIELD = z.union([z.enum(SPELLINGS), z.literal([...HORIZONS])], { error: ONE_RULE }).transform(toName);

/** Several horizons in JSON, or `"all"`, which is parsed to null. */
export const HORIZONS_FIELD = z.union(
  [
    withInputRules(
      z
        .array(HORIZON_FIELD)
        .min(1, 'must name at least one horizon')
        .max(HORIZONS.length, 'must name each of them once')
        .refine(unique, { error: 'must name each of them once' }),
      { uniqueItems: true },
    ),
    z.literal(ALL).transform(() => null),
  ],
  { error: LIST_RULE },
);

/** One horizon in a query: `7d` or `7`; parsed to `7d`. */
export const HORIZON_PARAMETER = z.enum(SPELLINGS, { error: ONE_RULE }).transform(toName);

const SPELLING = `[${HORIZONS.join('')}]d?`;

/** Several horizons in a query, separated by commas, or `all`, which is parsed to null. */
export const HORIZONS_PARAMETER = z
  .string({ error: 'must be given once' })
  .regex(
    new RegExp(`^(${ALL}|${SPELLING}(,${SPELLING}){0,19})$`),
    `must be ${ALL}, or one or more of ${NAMES.join(', ')}, with or without the d, separated by commas`,
  )
  .transform((text): HorizonChoice => (text === ALL ? null : text.split(',').map(toName)));

/** For `refine` of an object that has both fields. */
export const ONE_CHOICE: [(fields: HorizonFields) => boolean, { path: string[]; error: string }] = [
  ({ horizon, horizons }) => horizon === undefined || horizons === undefined,
  { path: ['horizon'], error: 'cannot be sent together with horizons: send one of them' },
];

/** The same in JSON Schema; linters ask that a required property is defined beside. */
export const ONE_CHOICE_RULE = { not: { properties: { horizon: {}, horizons: {} }, required: ['horizon', 'horizons'] } };

/** The choice of a subscriber, in ascending order, each horizon once; undefined when it names none. */
export function readHorizonChoice({ horizon, horizons }: HorizonFields): HorizonChoice | undefined {
  if (horizon !== undefined) return [horizon];
  return horizons == null ? horizons : NAMES.filter((name) => horizons.includes(name));
}
