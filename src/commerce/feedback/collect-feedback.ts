import { isAddressEqual } from 'viem';
import { type FeedbackEvent, readFeedbackEvents } from '../../chain/erc8004/feedback-events.ts';
import { readConfirmedBlockNumber } from '../../chain/rpc/block-depth.ts';
import { isOracleError } from '../../platform/errors.ts';
import { createFeedbackClassifier } from './classify-feedback.ts';
import type { FeedbackCounts } from './client-feedback-store.ts';
import type { CollectFeedbackDeps } from './deps.ts';
import { buildFeedbackId, toFeedbackDoc } from './feedback-doc.ts';

/** A node answers this range with at most some megabytes unless the registry is flooded. */
const MAX_BLOCKS_PER_STEP = 5_000;
/** Bounds the work of a run: the next one continues. */
const MAX_STEPS_PER_RUN = 20;

/** Reads feedback up to the confirmation depth. May run in any number of processes, or be interrupted. @throws OracleError CHAIN_UNREACHABLE */
export async function collectFeedback(deps: CollectFeedbackDeps): Promise<void> {
  const { chain, store, agent } = deps;
  const last = Number(await readConfirmedBlockNumber(chain));
  const state = await store.findState(agent);
  let cursor = state?.block ?? null;
  let paid = state?.paid;
  let next = cursor === null ? await deps.findFirstBlock() : cursor + 1;
  let span = MAX_BLOCKS_PER_STEP;
  for (let step = 0; step < MAX_STEPS_PER_RUN && next <= last; step += 1) {
    const to = Math.min(next + span - 1, last);
    const events = await readOrNull(deps, next, to);
    if (events === null) {
      span = Math.ceil((to - next + 1) / 4);
      continue;
    }
    const unpaid = await recordEvents(deps, events);
    if (events.length > 0 || paid === undefined) paid = await store.readPaidFigures(agent);
    if (!(await store.advance(agent, cursor, { block: to, paid, unpaid }))) return;
    [cursor, next] = [to, to + 1];
  }
}

/** Null where a smaller range may be answered: nodes bound the size of an answer. */
async function readOrNull({ chain, agentId }: CollectFeedbackDeps, from: number, to: number): Promise<FeedbackEvent[] | null> {
  try {
    return await readFeedbackEvents(chain, agentId, { fromBlock: BigInt(from), toBlock: BigInt(to) });
  } catch (error) {
    if (from === to || !isOracleError(error, 'CHAIN_UNREACHABLE')) throw error;
    return null;
  }
}

/** Idempotent, in chain order; returns the feedback without a payment, which is counted once by the state's compare-and-set. */
async function recordEvents(deps: CollectFeedbackDeps, events: readonly FeedbackEvent[]): Promise<FeedbackCounts> {
  const { store, agent, reporter } = deps;
  const classify = createFeedbackClassifier(deps);
  const unpaid = { given: 0, revoked: 0 };
  for (const event of events) {
    if (isAddressEqual(event.client, reporter)) continue;
    if (event.kind === 'revoked') {
      if (!(await store.revoke(buildFeedbackId(agent, event)))) unpaid.revoked += 1;
      continue;
    }
    const { paid } = await store.insert(toFeedbackDoc(agent, event, await classify(event)));
    if (!paid) unpaid.given += 1;
  }
  if (unpaid.given > 0) await store.pruneUnpaid(agent);
  return unpaid;
}
