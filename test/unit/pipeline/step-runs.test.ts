import { expect, it } from 'vitest';
import { toPublicStepReason } from '../../../src/pipeline/step-runs.ts';

it.each(['signal', 'attest', 'open-window', 'resolve', 'reputation', 'brief'] as const)('the reason of a waiting %s is public', (step) => {
  expect(toPublicStepReason({ step, reason: 'no price' })).toBe('no price');
});

it.each(['wager', 'settle'] as const)('the reason of a waiting %s is for the operator only: it discloses a wager', (step) => {
  expect(toPublicStepReason({ step, reason: 'the venue does not answer' })).toBeNull();
});

it('a public reason is a single plain line', () => {
  const reason = toPublicStepReason({ step: 'signal', reason: `no price <b>at</b>\nhttps://venue.example/${'x'.repeat(300)}` });
  expect(reason).toMatch(/^no price b at \/b https: venue\.example\/x+…$/);
  expect([...reason!]).toHaveLength(200);
});
