import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { measure } from '../../../src/tools/measure.ts';
import budgets from '../../budgets.json' with { type: 'json' };

/** Of a budget, from which on it should be moved. */
const WELL_BELOW = 0.97;

const measured = measure(resolve(import.meta.dirname, '../../..'));

/** Of modules, which are to be deep: these may only rise. */
const RISING: readonly string[] = ['meanLines', 'medianLines'];

it.each(Object.entries(budgets.sources))('%s is at its budget of %i, or better, and not well beyond', (name, budget) => {
  const value = measured[name as keyof typeof measured];
  const [most, least] = RISING.includes(name) ? [budget / WELL_BELOW, budget] : [budget, WELL_BELOW * budget];
  expect(
    value,
    `${name}: the budget of test/budgets.json is ${value > budget ? 'exceeded, or to be raised' : 'not reached, or to be lowered'}`,
  ).toSatisfy((measures: number) => measures >= least && measures <= most);
});
