import { setTimeout as delay } from 'node:timers/promises';
import { type Agent, balanceOf } from './agent.ts';
import { ask } from './ask.ts';
import { beginStep, check, narrate, usd } from './narrate.ts';

/** What the buyer holds and what the service has earned, in units. */
export interface Money {
  buyer: bigint;
  payments: number;
  revenue: bigint;
}

export async function countMoney(agent: Agent): Promise<Money> {
  const [buyer, revenue] = await Promise.all([
    balanceOf(agent),
    ask<{ payments: number; usdMicros: string }>(`${agent.service}/api/svc/revenue`),
  ]);
  return { buyer, payments: revenue.payments, revenue: BigInt(revenue.usdMicros) };
}

/** An answer to an anonymous request may be that old. */
const MAX_ANSWER_AGE_MS = 1_000;

/** The wallet's balance, the receipts and the service's ledger agree to the unit. */
export async function compareMoney(agent: Agent, before: Money): Promise<Money> {
  beginStep('Compare the books');
  await delay(MAX_ANSWER_AGE_MS);
  const after = await countMoney(agent);
  narrate(`the buyer held ${usd(before.buyer)}, and has ${usd(after.buyer)} left`);
  narrate(`the service had earned ${usd(before.revenue)} in ${before.payments} payments; now ${usd(after.revenue)} in ${after.payments}`);
  check(before.buyer - after.buyer === agent.spent, `the wallet is short of exactly what was bought: ${usd(agent.spent)}`);
  const earned = after.revenue - before.revenue;
  check(earned >= agent.spent, 'all of it stands in the ledger of the service');
  if (earned > agent.spent) narrate(`(others have paid ${usd(earned - agent.spent)} meanwhile)`);
  else check(true, 'to the unit');
  return after;
}
