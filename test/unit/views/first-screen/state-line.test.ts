import { expect, it } from 'vitest';
import { formatNote, formatStateLine, PUBLIC_ACCESS } from '../../../../src/page/first-screen.ts';
import { CALL, screen } from './fixtures.ts';

const BASIC = { ...PUBLIC_ACCESS, tier: 'basic', needed: '10 tokens' };

it('says when the call was committed and when it is revealed', () => {
  expect(formatStateLine(screen())).toBe('Direction committed 21:38, revealed 30 Nov');
  expect(formatStateLine(screen({ access: BASIC }))).toBe('Committed 21:38, public 30 Nov');
});

it('takes no time from the ranges of another day', () => {
  expect(formatStateLine(screen({ call: { ...CALL, predictionId: '2026-11-23:7d' } }))).toBe('Direction committed, revealed 30 Nov');
});

it.each([
  [{ attestationUid: null }, 'Not yet on chain, revealed 30 Nov'],
  [{ status: 'VOID' }, 'Void: committed too late, never counts'],
  [{ status: 'WIN' }, 'Revealed 30 Nov: Right'],
  [{ status: 'HOLD' }, 'Revealed 30 Nov: HOLD, not scored'],
] as const)('of a call with %j: %s', (changes, line) => {
  expect(formatStateLine(screen({ call: { ...CALL, ...changes } }))).toBe(line);
});

it('gives the reason why there is no call', () => {
  const lines = (['starting', 'none', 'loading'] as const).map((waiting) => formatStateLine(screen({ call: null, waiting })));
  expect(lines).toEqual(['The service is starting', 'No forecast yet', 'Loading…']);
});

it('notes a missed day, lost access and a problem', () => {
  expect(formatNote(screen())).toBe('');
  expect(formatNote(screen({ missedDate: '2026-11-23' }))).toBe('No forecast on 23 Nov: the day is void.');
  expect(formatNote(screen({ access: BASIC }))).toBe('The wallet no longer holds 10 tokens.');
  expect(formatNote(screen({ call: null, access: { ...BASIC, problem: 'Too many requests.' } }))).toBe('Too many requests.');
});

it('notes on a SELL alone what is known of such calls', () => {
  const access = { ...BASIC, sellNote: 'None was ever right.' };
  const of = (signal: 'BUY' | 'SELL') => formatNote(screen({ call: { ...CALL, signal, direction: 'DOWN', confidence: 0.6 }, access }));
  expect([of('SELL'), of('BUY')]).toEqual(['None was ever right.', '']);
});
