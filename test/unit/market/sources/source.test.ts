import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DAY_MS } from '../../../../src/forecast/day.ts';
import {
  createHttpSource,
  type DatedValue,
  epochMsText,
  finite,
  numeric,
  parseAnswer,
  requireFinishedDay,
  selectWithinRange,
} from '../../../../src/market/sources/source.ts';
import { createAnsweringProvider, createRowReader, NOW_MS, TODAY } from './test-providers.ts';

const dated = (day: number, value = day, providerAtMs: number | null = null): DatedValue => ({ day, value, providerAtMs });

describe('numeric', () => {
  it.each([
    ['12.5', 12.5],
    ['-0.0003', -0.0003],
    ['1e-7', 1e-7],
    ['007', 7],
  ])('parses %s', (text, value) => expect(numeric.parse(text)).toBe(value));

  it.each(['', ' 1', '1 ', '12,5', '1.', '.5', 'abc', '0x10', 'NaN', 'Infinity', '1e999', '-'])('rejects "%s"', (text) => {
    expect(numeric.safeParse(text).success).toBe(false);
  });

  it('rejects a value that is not a string', () => expect(numeric.safeParse(12.5).success).toBe(false));
});

describe('parseAnswer', () => {
  const shape = z.object({ rows: z.array(z.object({ at: epochMsText, value: finite })) });

  it('returns the parsed response', () => {
    expect(parseAnswer(shape, { rows: [{ at: '1700000000000', value: 3 }], more: 1 }, 'Acme')).toEqual({
      rows: [{ at: 1_700_000_000_000, value: 3 }],
    });
  });

  it.each([
    [{ rows: [{ at: '1700000000000', value: null }] }, 'rows.0.value'],
    [{ rows: [{ at: '-5', value: 1 }] }, 'rows.0.at'],
    [{ rows: [{ at: '1.5', value: 1 }] }, 'rows.0.at'],
    [{ lines: [] }, 'rows'],
    ['<html>', 'answer'],
    [null, 'answer'],
  ])('throws FEED_INVALID naming provider and field for %j', (body, field) => {
    expect(() => parseAnswer(shape, body, 'Acme')).toThrow(
      expect.objectContaining({ code: 'FEED_INVALID', field, message: expect.stringContaining(`Acme: ${field} `) }),
    );
  });
});

describe('selectWithinRange', () => {
  const range = { from: TODAY - 2, to: TODAY };

  it('excludes days outside the range', () => {
    const values = [dated(TODAY - 3), dated(TODAY - 2), dated(TODAY), dated(TODAY + 1)];
    expect(selectWithinRange(values, range, createRowReader('Acme'), NOW_MS)).toEqual([dated(TODAY - 2), dated(TODAY)]);
  });

  it('returns each day once with the latest provider time', () => {
    const values = [dated(TODAY, 1, 200), dated(TODAY, 2, 300), dated(TODAY, 3, 100), dated(TODAY - 1, 4), dated(TODAY - 1, 5)];
    expect(selectWithinRange(values, range, createRowReader('Acme'), NOW_MS)).toEqual([dated(TODAY, 2, 300), dated(TODAY - 1, 5)]);
  });

  it('leaves out a value dated after tomorrow, and rejects an answer of such values, even outside the range', () => {
    const reader = createRowReader('Acme');
    expect(selectWithinRange([dated(TODAY), dated(TODAY + 2)], range, reader, NOW_MS)).toEqual([dated(TODAY)]);
    expect(reader.leftOut).toMatchObject([{ field: 'date' }]);
    expect(() => selectWithinRange([dated(TODAY + 2)], range, createRowReader('Acme'), NOW_MS)).toThrow(
      expect.objectContaining({ code: 'FEED_INVALID', field: 'date', message: expect.stringContaining('Acme') }),
    );
  });
});

describe('requireFinishedDay', () => {
  const facts = { history: { days: 5 }, title: 'Acme', nowMs: NOW_MS };

  it.each([
    ['a finished day has a value', [dated(TODAY - 1)], TODAY - 3],
    ['the range has only the running day', [], TODAY],
    ['the range is before the history', [], TODAY - 9],
  ])('passes when %s', (_, values, from) => {
    const to = from < TODAY - 5 ? TODAY - 6 : TODAY;
    expect(() => requireFinishedDay(values, { from, to }, facts)).not.toThrow();
  });

  it.each([
    ['nothing is there', []],
    ['only the running day is there', [dated(TODAY)]],
  ])('throws FEED_UNAVAILABLE when %s', (_, values) => {
    expect(() => requireFinishedDay(values, { from: TODAY - 30, to: TODAY }, facts)).toThrow(
      expect.objectContaining({ code: 'FEED_UNAVAILABLE', message: 'Acme: no value from 2026-03-05 to 2026-03-09' }),
    );
  });
});

describe('createHttpSource', () => {
  const rows = z.array(z.tuple([z.number(), z.number()]));
  const source = createHttpSource({
    provider: 'fred',
    history: { from: '2020-01-01' },
    pageDays: 10,
    daily: true,
    request: ({ from, to }) => ({ path: '/rows', query: { from, to } }),
    read: (body, _range, { title }) => parseAnswer(rows, body, title).map(([day, value]) => dated(day, value, day * DAY_MS)),
  });
  const range = { from: TODAY - 3, to: TODAY };

  it('requests the range and returns the values within it', async () => {
    const provider = createAnsweringProvider('fred', [
      [TODAY - 4, 1],
      [TODAY - 1, 2],
    ]);
    expect(await source.fetch(provider, range)).toEqual([dated(TODAY - 1, 2, (TODAY - 1) * DAY_MS)]);
    expect(provider.asked).toEqual([{ path: '/rows', query: { from: TODAY - 3, to: TODAY } }]);
    expect([source.provider, source.history, source.pageDays]).toEqual(['fred', { from: '2020-01-01' }, 10]);
  });

  it('throws FEED_UNAVAILABLE for an empty response of a daily series', async () => {
    await expect(source.fetch(createAnsweringProvider('fred', []), range)).rejects.toMatchObject({ code: 'FEED_UNAVAILABLE' });
  });

  it('throws FEED_INVALID naming a changed field', async () => {
    await expect(source.fetch(createAnsweringProvider('fred', [[TODAY, '2']]), range)).rejects.toMatchObject({
      code: 'FEED_INVALID',
      field: '0.1',
    });
  });
});
