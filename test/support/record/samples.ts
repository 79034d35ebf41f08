import { EXAMPLE_CALLS } from '../operations/calls.ts';
import type { ExampleCall, ExampleClient, TokenHolder } from '../operations/client.ts';
import type { CallableOperation } from '../operations/operations.ts';

/** Values of the right form that stand for nothing. */
const NOTHING: Record<string, string> = {
  horizon: '7d',
  uid: `0x${'1'.repeat(64)}`,
  cid: 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy',
  date: '2026-01-05',
  weekId: '2026-W02',
  market: '2026-W02-60000',
  jobId: '1',
  txHash: `0x${'1'.repeat(64)}`,
  payer: `0x${'1'.repeat(40)}`,
  value: '1',
  id: '00000000-0000-4000-8000-000000000000',
};

/** How an operation is called on a service that may have nothing to name yet. */
export async function sampleOf(
  world: ExampleClient,
  { operationId, path, method }: CallableOperation,
  holder: TokenHolder,
): Promise<ExampleCall> {
  try {
    return (await EXAMPLE_CALLS[operationId]?.(world, holder)) ?? {};
  } catch {
    return nameNothing({ path, method });
  }
}

/** A call of the right form that names nothing which is there. */
export function nameNothing({ path, method }: Pick<CallableOperation, 'path' | 'method'>): ExampleCall {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, NOTHING[name]]);
  return { params: Object.fromEntries(named), query: NOTHING, ...(method === 'post' ? { body: {} } : {}) };
}
