import { toLowerCaseAddress } from '../../../chain/addresses.ts';
import { type OnChainJob, readJobPayment, submitJob } from '../../../chain/erc8183/jobs.ts';
import { isOracleError, OracleError } from '../../../platform/errors.ts';
import { buildJobResource, type JobDocWithoutText } from '../job-doc.ts';
import type { JobDeps } from './deps.ts';

/** Records the submit transaction of a process that crashed after sending it; returns whether there is one. */
export async function recordSubmission({ wallet, store }: JobDeps, doc: JobDocWithoutText, { jobId }: OnChainJob): Promise<boolean> {
  const { _id, contract, delivery, submission } = doc;
  if (delivery === null || submission !== null) return submission !== null;
  try {
    // The wallet's journal has the transaction, so this sends nothing.
    const { hash: txHash, at } = await submitJob(wallet, contract, jobId, delivery.hash);
    await store.update(_id, { submission: { txHash, at } });
    return true;
  } catch (error) {
    // The job was rejected after the deliverable was stored and before its submission.
    if (isOracleError(error, 'CHAIN_REVERTED')) return false;
    throw error;
  }
}

/** `complete` pays the provider directly: nothing to claim. @throws OracleError TRANSACTION_UNCONFIRMED while the logs hold no payment */
export async function bookPayment(deps: JobDeps, doc: JobDocWithoutText, job: OnChainJob, block: number): Promise<void> {
  const { _id, contract, offering, ref, payment } = doc;
  if (payment !== null || offering === null) return;
  const { amount, txHash, settledAt } = await findJobPayment(deps, doc, job, block);
  // The contract's fee may consume the whole amount.
  if (amount > 0n) {
    await deps.ledger.record({
      cause: { kind: 'job', contract, jobId: job.jobId },
      channel: 'agent-commerce',
      offering,
      amountMicros: amount,
      asset: deps.chain.addresses.stablecoin,
      payer: job.client,
      payee: deps.wallet.address,
      resource: buildJobResource(doc),
      ref,
      settledAt,
      txHash,
    });
  }
  await deps.store.update(_id, { payment: { amountMicros: amount.toString(), txHash, settledAt } });
}

async function findJobPayment({ chain, wallet }: JobDeps, doc: JobDocWithoutText, { jobId }: OnChainJob, block: number) {
  const { contract, lastEventBlock, seenBlock } = doc;
  const source = { contract, provider: wallet.address };
  const between = (from: number, to: number) => ({ jobId, fromBlock: BigInt(from), toBlock: BigInt(to) });
  // Completion is the last event of a job, so its block is tried first.
  const inItsBlock = await readJobPayment(chain, source, between(lastEventBlock, lastEventBlock));
  const found = inItsBlock ?? (await readJobPayment(chain, source, between(seenBlock, block)));
  // A node may serve a block's state before its logs.
  if (found === null) throw new OracleError('TRANSACTION_UNCONFIRMED', 'The payment of a completed job is not in the logs of the node yet');
  return found;
}

/** Records the parties of an unpaid delivery: the evaluator, and the client that chose it. */
export function recordUnpaid({ store }: JobDeps, { _id }: JobDocWithoutText, { client, evaluator }: OnChainJob): Promise<void> {
  return store.update(_id, { unpaidBy: [client, evaluator].map(toLowerCaseAddress) });
}

/** The contract has not paid a job without an evaluator with its submission: no further one is accepted, as the zero address counts as unpaid. */
export async function recordUnpaidSubmission(deps: JobDeps, doc: JobDocWithoutText, job: OnChainJob): Promise<void> {
  if (doc.unpaidBy !== undefined) return;
  await recordUnpaid(deps, doc, job);
  deps.log.error({ job: doc._id }, 'the agent commerce contract has not paid a job without an evaluator; no further one is accepted');
}
