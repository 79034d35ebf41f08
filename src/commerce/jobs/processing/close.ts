import type { Address } from 'viem';
import { type OnChainJob, readJobPayment, submitJob } from '../../../chain/erc8183/jobs.ts';
import { isOracleError, OracleError } from '../../../platform/errors.ts';
import { buildJobResource, type JobDocWithoutText } from '../job-doc.ts';
import type { JobDeps } from './deps.ts';

/**
 * Writes down which transaction submitted the delivery, where a process died before it could. Resolves to whether there is one.
 * @throws OracleError TRANSACTION_UNCONFIRMED, CHAIN_UNREACHABLE
 */
export async function recordSubmission({ wallet, store }: JobDeps, doc: JobDocWithoutText, { jobId }: OnChainJob): Promise<boolean> {
  const { _id, contract, delivery, submission } = doc;
  if (delivery === null || submission !== null) return submission !== null;
  try {
    // It is in the wallet's journal: nothing is sent.
    const { hash: txHash, at } = await submitJob(wallet, contract, jobId, delivery.hash);
    await store.update(_id, { submission: { txHash, at } });
    return true;
  } catch (error) {
    // It was kept, and rejected before it was submitted.
    if (isOracleError(error, 'CHAIN_REVERTED')) return false;
    throw error;
  }
}

/**
 * Books what a completed job has brought. The contract pays the provider as the evaluator completes: there is nothing to claim.
 * @throws OracleError CHAIN_UNREACHABLE, TRANSACTION_UNCONFIRMED while the logs hold no payment
 */
export async function bookPayment(deps: JobDeps, doc: JobDocWithoutText, job: OnChainJob, block: number): Promise<void> {
  const { _id, contract, offering, ref, payment } = doc;
  if (payment !== null || offering === null) return;
  const paid = await findJobPayment(deps, doc, job, block);
  const { amount, txHash, settledAt } = paid;
  // A contract may keep all of it as its fee: then no money has arrived.
  if (amount > 0n) {
    await deps.ledger.record({
      cause: { kind: 'job', contract, jobId: job.jobId },
      ...{ channel: 'agent-commerce', offering, amountMicros: amount, ref, settledAt, txHash },
      ...{ asset: deps.chain.addresses.stablecoin, payer: job.client, payee: deps.wallet.address, resource: buildJobResource(doc) },
    });
  }
  await deps.store.update(_id, { payment: { amountMicros: amount.toString(), txHash, settledAt } });
}

async function findJobPayment(
  { chain, wallet }: JobDeps,
  { contract, lastEventBlock, seenBlock }: JobDocWithoutText,
  { jobId }: OnChainJob,
  block: number,
) {
  const source = { contract, provider: wallet.address };
  const between = (from: number, to: number) => ({ jobId, fromBlock: BigInt(from), toBlock: BigInt(to) });
  // Completion is the last event of a job.
  const inItsBlock = await readJobPayment(chain, source, between(lastEventBlock, lastEventBlock));
  const found = inItsBlock ?? (await readJobPayment(chain, source, between(seenBlock, block)));
  // A node may serve the state of a block before its logs.
  if (found === null) throw new OracleError('TRANSACTION_UNCONFIRMED', 'The payment of a completed job is not in the logs of the node yet');
  return found;
}

/** Remembers who let a delivery go unpaid: the evaluator, and the client who chose him. */
export function recordUnpaid({ store }: JobDeps, { _id }: JobDocWithoutText, { client, evaluator }: OnChainJob): Promise<void> {
  return store.update(_id, { unpaidBy: [client, evaluator].map((address) => address.toLowerCase() as Address) });
}
