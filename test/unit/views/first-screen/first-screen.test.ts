import { describe, expect, it } from 'vitest';
import { formatCallTitle, PUBLIC_ACCESS, renderFirstScreen } from '../../../../src/page/first-screen.ts';
import { renderMarkup } from '../../../../src/page/markup.ts';
import { CALL, screen } from './fixtures.ts';

const text = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

it('has the range, the state and the record of the call, and hides its value', () => {
  const html = renderMarkup(renderFirstScreen(screen()));
  expect(text(html)).toMatch(/\$74,761–\$85,606 80 % likely on 30 Nov Direction committed 21:38, revealed 30 Nov 53 % right/);
  expect(html).not.toMatch(/BUY|SELL|HOLD|class="good"/);
});

it('stays below forty words', () => {
  const words = (data = screen()) =>
    text(renderMarkup(renderFirstScreen(data)))
      .trim()
      .split(' ').length;
  const call = { ...CALL, signal: 'BUY', direction: 'UP', confidence: 0.59 } as const;
  const access = { ...PUBLIC_ACCESS, tier: 'premium', usual: { up: 0.6, days: 5_000 }, own: { low: 70_000, median: 80_000, high: 90_000 } };
  expect(words()).toBeLessThanOrEqual(45);
  expect(words(screen({ call, access }))).toBeLessThanOrEqual(48);
});

it('has the same parts in every state', () => {
  const parts = (html: string) => [...html.matchAll(/data-part="(\w+)"/g)].map(([, name]) => name);
  const full = parts(renderMarkup(renderFirstScreen(screen())));
  const none = { call: null, range: null, price: null, record: null };
  for (const waiting of ['starting', 'none'] as const) {
    const html = renderMarkup(renderFirstScreen(screen({ ...none, waiting })));
    expect(parts(html)).toEqual(full);
    expect(html).not.toMatch(/NaN|undefined|null/);
  }
});

describe('formatCallTitle', () => {
  const NOW = Date.parse('2026-03-10T12:00:00Z');

  it.each([
    ['2026-03-10', "Today's call"],
    ['2026-03-09', "Today's call"],
    ['2026-03-08', 'Call of 8 Mar 2026'],
  ])('titles the call of %s: %s', (date, title) => {
    expect(formatCallTitle({ predictionId: `${date}:7d` }, NOW)).toBe(title);
  });

  it('titles a missing call as that of today', () => {
    expect(formatCallTitle(null, NOW)).toBe("Today's call");
  });
});
