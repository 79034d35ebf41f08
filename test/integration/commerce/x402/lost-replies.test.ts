import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultedTill, openFaultedTill, sweepPayments } from '../../../support/faults/faulted-till.ts';

let till: FaultedTill;
beforeAll(async () => {
  till = await openFaultedTill();
});
afterAll(() => till?.close());

it('settles a payment once, and continues its claim at once, when a write loses its reply', async () => {
  expect(await sweepPayments(till, ['cut-after'])).toBeGreaterThan(5);
});
