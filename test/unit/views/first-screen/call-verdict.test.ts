import fc from 'fast-check';
import { expect, it } from 'vitest';
import { judgeCall } from '../../../../src/page/first-screen.ts';

/** Its 95 % interval at 7 days reaches 3.5 points to each side. */
const USUAL = { up: 0.6, days: 5_325 };

const buy = (confidence: number) => ({ signal: 'BUY', direction: 'UP', confidence }) as const;
const sell = (confidence: number) => ({ signal: 'SELL', direction: 'DOWN', confidence }) as const;

it('shows neither word nor colour for a BUY that is no likelier than usual', () => {
  expect(judgeCall(buy(0.594), 7, USUAL)).toEqual({ claim: 'UP 59\u00a0%', comparison: 'usual 60\u00a0%: no edge', tone: 'plain' });
});

it('shows them above the interval of the usual share alone', () => {
  expect(judgeCall(buy(0.63), 7, USUAL)?.tone).toBe('plain');
  expect(judgeCall(buy(0.64), 7, USUAL)).toEqual({ claim: '▲ BUY, UP 64\u00a0%', comparison: 'usual 60\u00a0%', tone: 'good' });
  // Windows of one day overlap less, so that the usual share is known better.
  expect(judgeCall(buy(0.63), 1, USUAL)?.tone).toBe('good');
});

it('compares a SELL with the usual share of falls', () => {
  expect(judgeCall(sell(0.52), 7, USUAL)).toEqual({ claim: '▼ SELL, DOWN 52\u00a0%', comparison: 'usual 40\u00a0%', tone: 'bad' });
  expect(judgeCall(sell(0.52), 7, { up: 0.47, days: 700 })?.tone).toBe('plain');
});

it('names a HOLD, without a colour', () => {
  expect(judgeCall({ signal: 'HOLD', direction: 'UP', confidence: 0.51 }, 7, USUAL)).toMatchObject({
    claim: 'HOLD, UP 51\u00a0%',
    tone: 'plain',
  });
});

it('compares with nothing while the usual share is unknown, and judges no hidden call', () => {
  expect(judgeCall(buy(0.9), 7, null)).toEqual({ claim: 'UP 90\u00a0%', comparison: null, tone: 'plain' });
  expect(judgeCall({ signal: 'GATED', direction: null, confidence: null }, 7, USUAL)).toBeNull();
});

it('never colours a call that is below its usual share', () => {
  const share = fc.double({ min: 0.3, max: 0.7, noNaN: true });
  fc.assert(
    fc.property(
      share,
      share,
      fc.constantFrom('BUY', 'SELL', 'HOLD'),
      fc.integer({ min: 1, max: 9_999 }),
      (confidence, up, signal, days) => {
        const direction = signal === 'SELL' ? 'DOWN' : 'UP';
        const verdict = judgeCall({ signal, direction, confidence }, 7, { up, days });
        if (confidence <= (direction === 'UP' ? up : 1 - up)) expect(verdict).toMatchObject({ tone: 'plain' });
        if (verdict?.tone === 'plain') expect(verdict.claim).not.toMatch(/BUY|SELL/);
      },
    ),
  );
});
