import { expect, it } from 'vitest';
import { ConnectionBudget } from '../../../src/http/sockets.ts';

it('lists the use of each share, with reserves in addition to the general one', () => {
  const budget = new ConnectionBudget(4_096);
  const release = budget.acquireGeneral('192.0.2.1');
  budget.acquireGeneral('192.0.2.2');
  budget.acquireReserve('payment', '192.0.2.3');
  release?.();
  expect(budget.listUse()).toEqual([
    { share: 'general', used: 1, limit: 4_096 },
    { share: 'probe', used: 0, limit: 128 },
    { share: 'token', used: 0, limit: 256 },
    { share: 'payment', used: 1, limit: 128 },
  ]);
});
