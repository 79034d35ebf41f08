import { describe, expect, it } from 'vitest';
import { BAR_MS, BARS_PER_DAY, type Bar, checkBars, maskBadTicks } from '../../../../src/market/archive/bars/bar.ts';

const START_MS = Date.parse('2026-03-09T21:35:00Z');

const buildBars = (): Bar[] =>
  Array.from({ length: BARS_PER_DAY }, (_, index) => ({
    ...{ opensAtMs: START_MS + index * BAR_MS, open: 100, high: 101, low: 99, close: 100, volume: 1 },
  }));

const change = (index: number, values: Partial<Bar>) => buildBars().map((bar, at) => (at === index ? { ...bar, ...values } : bar));

describe('5-minute bars', () => {
  it('are those of the window alone', () => {
    const around = [-1, BARS_PER_DAY].map((index) => ({ ...buildBars()[0], opensAtMs: START_MS + index * BAR_MS }));
    expect(checkBars([...buildBars().reverse(), ...around], START_MS)).toEqual({ bars: buildBars(), masked: [] });
  });

  it.each([
    ['high below low', { high: 98 }, 'high is below low'],
    ['high below close', { high: 99.5 }, 'do not enclose'],
    ['low above open', { low: 100.5 }, 'do not enclose'],
    ['a price of zero', { low: 0 }, 'not positive'],
    ['a negative volume', { volume: -1 }, 'volume'],
    ['a time between', { opensAtMs: START_MS + 7 * BAR_MS + 60_000 }, 'five minutes'],
  ])('are masked with %s', (_, values, reason) => {
    const { bars, masked } = checkBars(change(7, values), START_MS);
    expect(bars.length).toBe(BARS_PER_DAY - 1);
    expect(masked).toEqual([{ what: expect.stringMatching(/^2026-03-09T22:1/), reason: expect.stringContaining(reason) }]);
  });

  it('are masked when sent twice', () => {
    const { bars, masked } = checkBars([...buildBars(), buildBars()[3]], START_MS);
    expect([bars.length, masked.length]).toEqual([BARS_PER_DAY - 1, 1]);
  });

  it('are masked for a bad tick that the other venue does not have', () => {
    const spiked = checkBars(change(50, { high: 150 }), START_MS);
    const { bars, masked } = maskBadTicks(spiked, buildBars());
    expect(bars.length).toBe(BARS_PER_DAY - 1);
    expect(masked).toEqual([{ what: new Date(START_MS + 50 * BAR_MS).toISOString(), reason: expect.stringContaining('10 %') }]);
    expect(maskBadTicks(checkBars(change(50, { low: 20 }), START_MS), []).masked.length).toBe(1);
  });

  it('are kept for a jump that both venues have, and for one that lasts', () => {
    const crash = checkBars(change(50, { low: 80 }), START_MS);
    expect(maskBadTicks(crash, change(50, { low: 81 })).masked).toEqual([]);
    const lasting = buildBars().map((bar, index) => (index < 144 ? bar : { ...bar, open: 108, high: 109, low: 107, close: 108 }));
    expect(maskBadTicks(checkBars(lasting, START_MS), []).masked).toEqual([]);
  });
});
