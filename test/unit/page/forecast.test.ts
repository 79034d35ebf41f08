import { describe, expect, it } from 'vitest';
import { describeForecast, listSteps, renderForecast, renderForecastChart } from '../../../src/page/forecast.ts';
import { renderMarkup } from '../../../src/page/markup.ts';
import { buildForecastFacts, buildHiddenFacts } from './forecast-facts-fixture.ts';

describe('timeline', () => {
  const done = (facts: Parameters<typeof listSteps>[0]) =>
    listSteps(facts)
      .filter(({ isDone }) => isDone)
      .map(({ label }) => label);

  it('marks every step of a revealed forecast as done', () => {
    expect(done(buildForecastFacts())).toEqual(['Made', 'Committed', 'Window opens', 'Window ends', 'Revealed']);
  });

  it('marks the steps before now alone for a committed forecast', () => {
    expect(done(buildHiddenFacts())).toEqual(['Made', 'Committed', 'Window opens']);
  });

  it('has a late commitment after the opening of the window', () => {
    const late = { ...buildForecastFacts().committed!, at: '2026-01-06T00:05:00.000Z' };
    const steps = listSteps(buildHiddenFacts({ state: 'void', committed: late }));
    expect(steps.map(({ label }) => label)).toEqual(['Made', 'Window opens', 'Committed', 'Window ends', 'Revealed']);
  });

  it('does not mark a missed day as made', () => {
    expect(done(buildHiddenFacts({ state: 'missed' }))).not.toContain('Made');
  });
});

describe('chart', () => {
  const svg = (facts: Parameters<typeof renderForecastChart>[0]) => renderMarkup(renderForecastChart(facts));

  it('names prices and range in its label', () => {
    expect(svg(buildForecastFacts())).toContain('BTC from $90,000 to $91,000. 80 % band on 8 Jan: $84,000 to $98,000.');
    const ahead = { low: 84_000, high: 98_000, isCommitted: false };
    expect(svg(buildForecastFacts({ band: ahead }))).toContain('Expected 80 % range on 8 Jan: $84,000 to $98,000.');
  });

  it('draws an outcome outside the range as a diamond, and one within as a circle', () => {
    expect(svg(buildForecastFacts())).not.toContain('class="outside"');
    const outside = buildForecastFacts({ price: { atSignal: 90_000, atOpening: 90_100, atEnd: 99_000, returnBps: 990 } });
    expect(svg(outside)).toContain('class="outside"');
  });

  it('is left out without a price', () => {
    expect(
      svg(buildHiddenFacts({ price: { atSignal: null, atOpening: null, atEnd: null, returnBps: null }, closes: [], band: null })),
    ).toBe('');
  });

  it('stays within its drawing when all prices are equal', () => {
    const flat = buildForecastFacts({ band: null, price: { atSignal: 9, atOpening: 9, atEnd: 9, returnBps: 0 }, closes: [] });
    expect(svg(flat)).not.toContain('NaN');
  });
});

describe('page', () => {
  it('links the neighbours, the other horizons and the row as JSON', () => {
    const html = renderMarkup(renderForecast(buildForecastFacts()));
    for (const link of ['f/2026-01-04/2d', 'f/2026-01-05/1d', 'api/svc/scorecard?horizon=2&amp;limit=1&amp;before=6'])
      expect(html).toContain(`href="${link}"`);
    expect(html).toContain('On the local chain');
  });

  it('has the size of the move with its limits at once, and after the outcome whether it was big', () => {
    const text = (facts: Parameters<typeof renderForecast>[0]) => renderMarkup(renderForecast(facts)).replaceAll(/<[^>]*>/g, ' ');
    expect(text(buildHiddenFacts())).toMatch(
      /Size of the move\s+usual\s+80\s% width 9\.1\s%, calm up to 8\.0\s%, wild from 12\.0\s% \(log\)\s+P\(move beyond 5\s%\)\s+44\.1\s%\s+Call/,
    );
    expect(text(buildForecastFacts())).toMatch(/44\.1\s%\s+it was not/);
    const fall = { atSignal: 90_000, atOpening: 90_100, atEnd: 85_400, returnBps: -522 };
    expect(text(buildForecastFacts({ price: fall }))).toMatch(/44\.1\s%\s+it was bigger/);
    expect(text(buildHiddenFacts({ move: null }))).toMatch(/Size of the move\s+–/);
  });

  it('offers no check before the commitment is on chain', () => {
    expect(renderMarkup(renderForecast(buildHiddenFacts({ state: 'forming', committed: null })))).not.toContain('id="check"');
  });

  it.each([
    ['right', 'It said UP (P(up) 58.8\u00a0%); BTC moved +1.00\u00a0%.'],
    ['hold', 'It abstained (HOLD), leaning UP; BTC moved +1.00\u00a0%. Not scored.'],
    ['void', 'Committed after its window had opened. It counts for nothing.'],
    ['missed', 'Nothing was forecast before the window opened. It counts for nothing.'],
  ] as const)('says of %s: %s', (state, sentence) => {
    expect(describeForecast(buildForecastFacts({ state }))).toBe(sentence);
  });
});
