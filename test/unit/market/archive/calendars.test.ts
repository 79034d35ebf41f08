import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseBlsCalendar } from '../../../../src/market/archive/calendar/bls-calendar.ts';
import { requireCurrent } from '../../../../src/market/archive/calendar/calendar-event.ts';
import { readCalendarFile } from '../../../../src/market/archive/calendar/calendar-file.ts';
import { parseFomcPage } from '../../../../src/market/archive/calendar/fomc-page.ts';
import { removeFolder } from '../../../support/docs/folders.ts';
import { blsCalendar, fomcPage } from '../../../support/provider-data/calendars.ts';

describe('the page of the Federal Reserve', () => {
  it('gives the last day of each meeting', () => {
    const page = fomcPage({
      2026: [
        ['January', '27-28'],
        ['March', '17-18*'],
        ['Apr/May', '30-1'],
        ['June', '9'],
      ],
    });
    expect(parseFomcPage(page, 'Fed').map(({ date }) => date)).toEqual(['2026-01-28', '2026-03-18', '2026-05-01', '2026-06-09']);
  });

  it('leaves out notation votes and cancelled meetings, and marks unscheduled ones', () => {
    const page = fomcPage({
      2020: [
        ['March', '3 (unscheduled)'],
        ['March', '17-18 (cancelled)'],
        ['August', '27 (notation vote)'],
      ],
    });
    expect(parseFomcPage(page, 'Fed')).toEqual([{ date: '2020-03-03', note: 'unscheduled' }]);
  });

  it.each([
    ['is truncated', fomcPage({ 2026: [['January', '27-28']] }).slice(0, -20), 'not complete'],
    ['has no meetings', '<html><body>moved</body></html>', 'no meetings'],
    ['has an unknown month', fomcPage({ 2026: [['Smarch', '27-28']] }), 'unreadable'],
    ['has a day that does not exist', fomcPage({ 2026: [['February', '29-30']] }), 'no such day'],
  ])('is rejected when it %s', (_, page, reason) => {
    expect(() => parseFomcPage(page, 'Fed')).toThrow(reason);
  });
});

describe('the calendar of the Bureau of Labor Statistics', () => {
  it('gives the releases of the CPI alone, also from folded lines', () => {
    const text = blsCalendar([
      ['20260807T083000', 'Employment Situation'],
      ['20260812T083000', 'Consumer Price Index'],
      ['20260911T083000', 'Consumer Price Index for August 2026'],
      ['20260911T083000', 'Real Earnings'],
    ]);
    const folded = text.replace('Consumer Price Index\r\n', 'Consumer Price Ind\r\n ex\r\n');
    expect(parseBlsCalendar(folded, 'BLS').map(({ date }) => date)).toEqual(['2026-08-12', '2026-09-11']);
  });

  it.each([
    ['is truncated', blsCalendar([['20260812T083000', 'Consumer Price Index']]).slice(0, -8), 'complete'],
    ['has no CPI', blsCalendar([['20260812T083000', 'Real Earnings']]), 'no release'],
    ['has an impossible date', blsCalendar([['20261340T083000', 'Consumer Price Index']]), 'DTSTART'],
    ['is a page', '<html>Access Denied</html>', 'complete'],
  ])('is rejected when it %s', (_, text, reason) => {
    expect(() => parseBlsCalendar(text, 'BLS')).toThrow(reason);
  });
});

describe('a calendar', () => {
  it('is sorted, with each date once', () => {
    const events = ['2026-03-18', '2026-01-28', '2026-03-18'].map((date) => ({ date, note: null }));
    expect(requireCurrent(events, '2026-03-01', 'Fed').map(({ date }) => date)).toEqual(['2026-01-28', '2026-03-18']);
  });

  it('is rejected when its last date has passed', () => {
    expect(() => requireCurrent([{ date: '2026-01-28', note: null }], '2026-03-01', 'Fed')).toThrow('the last date is 2026-01-28');
    expect(() => requireCurrent([], '2026-03-01', 'Fed')).toThrow('the last date is never');
  });
});

describe('a calendar file', () => {
  const write = async (text: string) => {
    const folder = await mkdtemp(join(tmpdir(), 'oracle-calendar-'));
    onTestFinished(() => removeFolder(folder));
    await writeFile(join(folder, 'calendar.csv'), text);
    return join(folder, 'calendar.csv');
  };

  it('has both events', async () => {
    const path = await write('event,date\nfomc,2026-01-28\ncpi,2026-02-11\n');
    expect(await readCalendarFile(path, 'cpi')).toEqual([{ date: '2026-02-11', note: null }]);
  });

  it('is rejected with a wrong date, a wrong event or uneven rows, and when it is missing', async () => {
    await expect(write('event,date\ncpi,11.2.2026\n').then((path) => readCalendarFile(path, 'cpi'))).rejects.toThrow('0.date');
    await expect(write('event,date\nppi,2026-02-11\n').then((path) => readCalendarFile(path, 'cpi'))).rejects.toThrow('0.event');
    await expect(write('event,date\ncpi\n').then((path) => readCalendarFile(path, 'cpi'))).rejects.toThrow('not readable as CSV');
    await expect(readCalendarFile('/nowhere/calendar.csv', 'cpi')).rejects.toThrow('ENOENT');
  });
});
