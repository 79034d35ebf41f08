import { expect, it } from 'vitest';
import { documentText, unpadded } from '../support/documents.ts';
import { spawnNode } from '../support/service.ts';

/** The number that a text has at the place of `<n>`. */
function numberIn(text: string, words: string): number {
  const [before, after] = words.split('<n>').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const found = new RegExp(`${before}([\\d,.]*\\d)${after}`).exec(text);
  if (found === null) throw new Error(`"${words}" is not in\n${text}`);
  return Number(found[1].replaceAll(',', ''));
}

it('what docs/OPERATE.md says of gas and space is what the benchmark prints', async () => {
  const { code, output } = await spawnNode(['bin/bench.mjs', 'running-costs'], {}).ended;
  expect(code, output).toBe(0);
  const said = unpadded(documentText('docs/OPERATE.md'));
  const printed = (words: string) => numberIn(output, words);
  const once = numberIn(said, '| once: identity and two schemas | <n> |');
  expect((printed('gas of identity: <n> once') + printed('gas of schema: <n> once')) / once).toBeCloseTo(1, 2);
  expect(printed('gas of attest: <n> a day') / numberIn(said, 'four revealed | <n> + ')).toBeCloseTo(1, 2);
  const perDay = numberIn(said, 'four revealed | 1,350,000 + <n> |');
  expect(Math.abs(printed('gas of resolve: <n> a day') / perDay - 1)).toBeLessThan(0.02);
  const aYear = numberIn(said, '| a year of the record, 365 days | <n> MB of data, by ');
  expect(Math.abs(printed('a year in the database: <n> MB of data') - aYear)).toBeLessThan(1.5);
  expect(printed('a year to replay, at this pace: <n> s')).toBeGreaterThan(0);
});
