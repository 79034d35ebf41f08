import { expect, it } from 'vitest';
import { documentText, unpadded } from '../../support/docs/documents.ts';
import { spawnNode } from '../../support/service/service.ts';

/** The document has gas to the ten thousand. */
const ROUNDED = 5_000;

/** The numbers that a text has at the places of `<n>`. */
function numbersIn(text: string, words: string): number[] {
  const parts = words.split('<n>').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const found = new RegExp(parts.join('([\\d,.]*\\d)')).exec(text);
  if (found === null) throw new Error(`"${words}" is not in\n${text}`);
  return found.slice(1).map((number) => Number(number.replaceAll(',', '')));
}

const numberIn = (text: string, words: string) => numbersIn(text, words)[0];

it('what docs/SETTINGS.md says of gas and space is what the benchmark prints', async () => {
  const { code, output } = await spawnNode(['bin/dev/bench.mjs', 'running-costs'], {}).ended;
  expect(code, output).toBe(0);
  const said = unpadded(documentText('docs/SETTINGS.md'));
  const printed = (words: string) => numberIn(output, words);
  const once = numberIn(said, '| once: identity and two schemas | <n> |');
  expect((printed('gas of identity: <n> once') + printed('gas of schema: <n> once')) / once).toBeCloseTo(1, 2);
  expect(printed('gas of attest: <n> a day') / numberIn(said, 'four revealed | <n> + ')).toBeCloseTo(1, 2);
  // How many of the four are HOLD depends on the days that are replayed.
  const [least, most] = numbersIn(said, 'four revealed | <n> + <n> to <n>: ').slice(1);
  const revealed = printed('gas of resolve: <n> a day');
  expect(revealed).toBeGreaterThan(least - ROUNDED);
  expect(revealed).toBeLessThan(most + ROUNDED);
  const aYear = numberIn(said, '| a year of the record, 365 days | <n> MB of data, by ');
  expect(Math.abs(printed('a year in the database: <n> MB of data') - aYear)).toBeLessThan(1.5);
  expect(printed('a year to replay, at this pace: <n> s')).toBeGreaterThan(0);
});
