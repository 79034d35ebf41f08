import type { Address } from 'viem';
import { toLowerCaseAddress } from '../../chain/addresses.ts';
import type { GivenFeedback } from '../../chain/erc8004/feedback-events.ts';
import { readBlockTime } from '../../chain/rpc/blocks.ts';
import type { FeedbackPayment } from './client-feedback-store.ts';
import type { CollectFeedbackDeps } from './deps.ts';
import { getFeedbackPosition } from './feedback-doc.ts';

const UNPAID: FeedbackPayment = { paid: false, at: null };
const MAX_COUNTED_PAYMENTS = 10_000;

/**
 * Feedback is backed by a payment when its client had paid the service before, more often than it had given such feedback: each one
 * costs a payment. What its file claims is not read, since the client names its URL. Lookups are shared within a run.
 */
export function createFeedbackClassifier({
  chain,
  ledger,
  store,
  agent,
}: Pick<CollectFeedbackDeps, 'chain' | 'ledger' | 'store' | 'agent'>) {
  const payers = new Map<Address, Promise<number>>();
  const blockTimes = new Map<bigint, Promise<Date>>();
  return async (event: GivenFeedback): Promise<FeedbackPayment> => {
    const client = toLowerCaseAddress(event.client);
    const known = payers.get(client) ?? ledger.countPayments(client, { max: 1 });
    payers.set(client, known);
    if ((await known) === 0) return UNPAID;
    const time = blockTimes.get(event.blockNumber) ?? readBlockTime(chain, event.blockNumber);
    blockTimes.set(event.blockNumber, time);
    const at = await time;
    const [payments, earlier] = await Promise.all([
      ledger.countPayments(client, { through: at, max: MAX_COUNTED_PAYMENTS }),
      store.countPaidBefore(agent, client, getFeedbackPosition(event)),
    ]);
    return earlier < payments ? { paid: true, at } : UNPAID;
  };
}
