import { Message, type Task } from '@a2a-js/sdk';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HISTORY_LIMITS, limitHistory } from '../../../../../src/a2a/task-store.ts';
import { messageOf, textPart } from '../../../../support/agent-clients/a2a.ts';

const bytesOf = (history: Task['history']) => history.reduce((sum, one) => sum + Buffer.byteLength(JSON.stringify(Message.toJSON(one))), 0);
const said = (length: number, messageId: string) => messageOf([textPart('\u0001'.repeat(length))], { messageId }).message!;

describe('the stored history', () => {
  test('keeps the newest messages that fit, in order', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 3_000 }), { maxLength: 60 }), (lengths) => {
        const history = lengths.map((length, index) => said(length, `m${index}`));
        const kept = limitHistory(history);
        expect(kept).toEqual(history.slice(history.length - kept.length));
        expect(kept.length).toBeLessThanOrEqual(HISTORY_LIMITS.messages);
        if (kept.length > 1) expect(bytesOf(kept)).toBeLessThanOrEqual(HISTORY_LIMITS.bytes);
        const more = history.slice(history.length - kept.length - 1);
        const isWhole = kept.length === history.length || kept.length === HISTORY_LIMITS.messages;
        if (!isWhole) expect(bytesOf(more)).toBeGreaterThan(HISTORY_LIMITS.bytes);
      }),
      { numRuns: 50 },
    );
  });

  test('keeps at least the last one, and each once', () => {
    const large = said(HISTORY_LIMITS.bytes, 'large');
    expect(limitHistory([said(1, 'a'), large])).toEqual([large]);
    expect(limitHistory([said(1, 'a'), said(1, 'b'), said(1, 'a')]).map(({ messageId }) => messageId)).toEqual(['a', 'b']);
    expect(limitHistory([])).toEqual([]);
  });
});
