import { randomUUID } from 'node:crypto';
import { findMember, parseBody, readPayment } from '../wire/payments.ts';
import type { Exchange } from '../wire/wire.ts';
import type { World } from '../world/world.ts';

/** @throws Error without one */
export function findPaidExchange(purchase: readonly Exchange[]): Exchange {
  const paid = purchase.findLast((exchange) => readPayment(exchange) !== undefined);
  if (paid === undefined) throw new Error('no payment went over the wire');
  return paid;
}

/** The same request, byte for byte. */
export function resend({ wire }: World, purchase: readonly Exchange[]): Promise<Exchange> {
  return wire.send(findPaidExchange(purchase));
}

/** A repeated A2A message would return its task without a look at the payment: the payment goes to a new task. */
export async function payAnotherTask({ wire }: World, purchase: readonly Exchange[]): Promise<Exchange> {
  const paid = findPaidExchange(purchase);
  const asked = purchase.find(({ method, path }) => method === 'POST' && path === paid.path)!;
  const answer = parseBody((await wire.send(withMessage(asked, {}))).responseBody);
  // In version 0.3 the result is the task.
  const task = (findMember(answer, 'task') ?? findMember(answer, 'result')) as { id: string; contextId: string };
  return wire.send(withMessage(paid, { taskId: task.id, contextId: task.contextId }));
}

function withMessage(exchange: Exchange, change: Record<string, string>): Exchange {
  const body = JSON.parse(exchange.body) as { params: { message: Record<string, unknown> } };
  Object.assign(body.params.message, { messageId: randomUUID(), ...change });
  return { ...exchange, body: JSON.stringify(body) };
}
