import { describe, expect, it } from 'vitest';
import { findHouseNames, findHouseWords } from '../../../../src/tools/lint/house-words.ts';

const prose = (text: string, line = 1) => [{ file: 'src/a.ts', line, text }];
const places = (text: string, line = 1) => findHouseWords(prose(text, line)).map(({ line: at, message }) => `${at} ${message}`);

describe('findHouseWords', () => {
  it('reports each use of a word without allowance, with its line', () => {
    expect(places('// the client\n// is told\n * by a door', 10)).toEqual([
      '11 "told": write return, send, publish, format, report',
      '12 "door": write transport, interface, endpoint',
    ]);
  });

  it('ignores case, and words that only contain a house word', () => {
    expect(places('Tells')).toHaveLength(1);
    expect(places('storyteller, indoors, estranged')).toEqual([]);
  });

  it('allows "tell apart"', () => expect(places('colours that readers can tell apart')).toEqual([]));

  it('reports no use of a word below its ceiling per 1,000 words', () => {
    expect(places(`${'word '.repeat(999)}nobody`)).toEqual([]);
  });

  it('reports all uses of a word above its ceiling', () => {
    expect(places(`${'word '.repeat(998)}nobody whoever`)).toHaveLength(2);
  });

  it('counts the words of all prose together', () => {
    const long = prose('word '.repeat(1_000))[0];
    expect(findHouseWords([...prose('nobody'), { ...long, file: 'src/b.ts' }])).toEqual([]);
  });
});

describe('findHouseNames', () => {
  const found = (...names: string[]) =>
    findHouseNames(names.map((name) => ({ file: 'src/a.ts', line: 3, name }))).map(({ message }) => message.split(':')[0]);

  it('reports names that the glossary replaces', () => {
    const names = [
      'MOST_DAYS',
      'LONGEST_WAIT_MS',
      'tellClient',
      'told',
      'Told',
      'errorTeller',
      'asker',
      'RequestAsker',
      'carryOut',
      'Misuse',
    ];
    expect(found(...names)).toEqual(names);
  });

  it('accepts names that only resemble them', () => {
    expect(found('MAX_DAYS', 'most', 'tellerId', 'stolen', 'askPrice', 'carryOver')).toEqual([]);
  });

  it('reports file and line', () => {
    expect(findHouseNames([{ file: 'src/a.ts', line: 3, name: 'asker' }])).toMatchObject([{ file: 'src/a.ts', line: 3 }]);
  });
});
