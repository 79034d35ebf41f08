import { describe, expect, it } from 'vitest';
import { buildExampleView } from '../../../../../src/events/asyncapi.ts';
import { PUSHED_NAMES } from '../../../../../src/events/events.ts';
import { formatAttestation, formatEvent } from '../../../../../src/page/browser/parts/events.ts';

const OPTIONS = { publicUrl: 'http://127.0.0.1:3000', chainId: 31_337 };
const GAPS = /undefined|null|NaN|\[object|GATED/;

describe('formatEvent', () => {
  it.each(PUSHED_NAMES)('formats %s as one complete sentence for each tier', (type) => {
    for (const tier of ['basic', 'premium'] as const) {
      const { kind, text } = formatEvent(type, buildExampleView(type, tier, OPTIONS).data);
      expect(kind).toMatch(/^[A-Z][a-z ]+$/);
      expect(text).toMatch(/^[^\n]{10,250}\.$/);
      expect(text).not.toMatch(GAPS);
    }
  });

  it('formats a call and its outcome', () => {
    const call = buildExampleView('signal.new', 'basic', OPTIONS).data;
    expect(formatEvent('signal.new', call).text).toBe('7-day call of 10 Mar: BUY, UP at 56.1\u00a0%, with Bitcoin at $56,124.');
    expect(formatEvent('signal.new', { ...call, signal: 'HOLD' }).text).toContain('HOLD, abstains (leans UP at 56.1\u00a0%)');
    const lost = { ...buildExampleView('signal.resolved', 'basic', OPTIONS).data, outcome: 'LOSS', returnBps: -263 };
    expect(formatEvent('signal.resolved', lost)).toMatchObject({
      tone: 'bad',
      text: expect.stringContaining('the price moved −2.63\u00a0%'),
    });
  });

  it('omits values that a wallet below Basic may not see', () => {
    const sealed = { signal: 'GATED', direction: null, confidence: null };
    expect(formatEvent('signal.new', { ...buildExampleView('signal.new', 'basic', OPTIONS).data, ...sealed }).text).toContain(
      'call of 10 Mar: hidden',
    );
    const hidden = { side: null, amount: null, odds: null, outcome: null, pnl: null };
    for (const type of ['wager.placed', 'wager.settled'] as const) {
      expect(formatEvent(type, { ...buildExampleView(type, 'basic', OPTIONS).data, ...hidden }).text).not.toMatch(GAPS);
    }
  });

  it('formats the reason of a day without a wager', () => {
    const skipped = { placed: false, reason: 'no edge after costs', side: 'NONE', amount: 0, odds: 0 };
    const { text } = formatEvent('wager.placed', { ...buildExampleView('wager.placed', 'basic', OPTIONS).data, ...skipped });
    expect(text).toBe('None on 10 Mar: no edge after costs.');
  });

  it('bounds external text and accepts unknown event types', () => {
    const market = 'x'.repeat(10_000);
    expect(formatEvent('wager.placed', { ...buildExampleView('wager.placed', 'basic', OPTIONS).data, market }).text.length).toBeLessThan(
      300,
    );
    expect(formatEvent('y'.repeat(1_000), {}).kind.length).toBeLessThanOrEqual(40);
  });

  it('formats public attestations: the outcome of a resolved call, the commitment of an unresolved one', () => {
    const row = { horizon: '7d', date: '2026-11-14', blockNumber: 132, direction: 'UP', returnBps: -263 };
    expect(formatAttestation({ ...row, type: 'resolution', status: 'LOSS' }).text).toContain('LOSS. Called UP');
    expect(formatAttestation({ ...row, type: 'resolution', status: 'HOLD' }).text).toContain('HOLD, revealed on chain in block 132');
    const open = formatAttestation({ ...row, type: 'prediction', status: 'PENDING' });
    expect(open).toEqual({ kind: 'Committed', text: '7-day call of 14 Nov: committed on chain in block 132.' });
  });
});
