import { expect, it } from 'vitest';
import { toPublicStepReason } from '../../../src/pipeline/step-run-store.ts';

it.each(['signal', 'attest', 'open-window', 'resolve', 'reputation', 'brief'] as const)('everybody may read why %s waits', (step) => {
  expect(toPublicStepReason({ step, reason: 'no price' })).toBe('no price');
});

it.each(['wager', 'settle'] as const)('why %s waits is told to the operator only: it tells of a wager', (step) => {
  expect(toPublicStepReason({ step, reason: 'the venue does not answer' })).toBeNull();
});

it('nobody may read more of a reason than a plain line', () => {
  const reason = toPublicStepReason({ step: 'signal', reason: `no price <b>at</b>\nhttps://venue.example/${'x'.repeat(300)}` });
  expect(reason).toMatch(/^no price b at \/b https: venue\.example\/x+…$/);
  expect([...reason!]).toHaveLength(200);
});
