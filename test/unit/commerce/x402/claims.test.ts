import { expect, it } from 'vitest';
import { observeOutcome, type PaymentOutcome } from '../../../../src/commerce/x402/claims.ts';
import { OracleError } from '../../../../src/errors.ts';

it('reports a sale as accepted, and returns its result', async () => {
  const outcomes: PaymentOutcome[] = [];
  expect(await observeOutcome(Promise.resolve('sold'), (outcome) => outcomes.push(outcome))).toBe('sold');
  expect(outcomes).toEqual(['accepted']);
});

it.each([
  [new OracleError('PAYMENT_REQUIRED', 'wrong amount'), 'rejected'],
  [new OracleError('CONFLICT', 'used for another request'), 'rejected'],
  [new OracleError('STEP_WAITING', 'gas is too expensive'), 'waiting'],
  [new OracleError('TRANSACTION_UNCONFIRMED', 'sent'), 'unconfirmed'],
  [new OracleError('CHAIN_UNREACHABLE', 'no answer'), 'unreachable'],
  [new OracleError('INTERNAL', 'a fault'), 'failed'],
  [new TypeError('a fault'), 'failed'],
])('reports %s as %s, and throws it', async (error, outcome) => {
  const outcomes: PaymentOutcome[] = [];
  await expect(observeOutcome(Promise.reject(error), (one) => outcomes.push(one))).rejects.toBe(error);
  expect(outcomes).toEqual([outcome]);
});
