import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultedTill, openFaultedTill, sweepPayments } from '../../support/faults/faulted-till.ts';
import { WRITE_FAULTS } from '../../support/faults/mongo-fault-proxy.ts';

let till: FaultedTill;
beforeAll(async () => {
  till = await openFaultedTill();
});
afterAll(() => till?.close());

it('settles a payment once, and without waiting for an abandoned lease, whichever of its writes loses the connection', async () => {
  expect(await sweepPayments(till, WRITE_FAULTS)).toBeGreaterThan(15);
});
