// Hires the service by an escrow contract, ERC-8183, and accepts what it delivers: npx node examples/jobs/hire.ts
// As PRIVATE_KEY, or as the demonstration wallet "buyer", who is the evaluator as well. It takes some seconds.
import { setTimeout as delay } from 'node:timers/promises';
import { type Address, erc20Abi, getAddress, type Hex, keccak256, parseAbi, parseEventLogs, stringToHex, zeroAddress } from 'viem';
import { findOffering } from '../common/offering.ts';
import { answerOf, post, reach } from '../common/service.ts';
import { openWallet, walletOf } from '../common/wallet.ts';

const OFFERING = 'svc_market_context';
const PATIENCE_MS = 60_000;
const HOUR_SECONDS = 3_600n;
const abi = parseAbi([
  'function createJob(address provider, address evaluator, uint256 expiredAt, string description, address hook) returns (uint256)',
  'function fund(uint256 jobId, uint256 expectedBudget, bytes optParams)',
  'function complete(uint256 jobId, bytes32 reason, bytes optParams)',
  'event JobCreated(uint256 indexed jobId, address indexed client, address indexed provider, address evaluator, uint256 expiredAt, address hook)',
]);

/** What the service says of a job. */
interface Job {
  /** Null until it has looked at it. */
  accepted: boolean | null;
  reason: string | null;
  budget: { amount: string };
  deliverable: { hash: Hex } | null;
  payment: { txHash: Hex } | null;
}

const account = walletOf('buyer');
const wallet = openWallet(account);
const { title, price, asset, payee, contract } = await findOffering('agent-commerce', OFFERING);
const escrow = { address: contract as Address, abi, chain: null } as const;

const { timestamp } = await wallet.getBlock();
const order = [payee, account.address, timestamp + HOUR_SECONDS, JSON.stringify({ offering: OFFERING }), zeroAddress] as const;
const { logs } = await mined(wallet.writeContract({ ...escrow, functionName: 'createJob', args: order }));
const { jobId } = parseEventLogs({ abi, eventName: 'JobCreated', logs })[0].args;
console.log(`Job ${jobId}: ${title}`);

await until('the price', ({ accepted, budget }) => accepted === true && BigInt(budget.amount) === price);
await mined(wallet.writeContract({ address: asset, abi: erc20Abi, chain: null, functionName: 'approve', args: [escrow.address, price] }));
await mined(wallet.writeContract({ ...escrow, functionName: 'fund', args: [jobId, price, '0x'] }));
console.log(`Accepted, and ${price} units are in escrow`);

const { deliverable } = await until('the delivery', (job) => job.deliverable !== null);
const bytes = await fetchDelivery();
if (keccak256(bytes) !== deliverable!.hash) throw new Error('This is not what the job says on chain: nothing is paid');
console.log(`${bytes.length} bytes delivered; their keccak256 is what the job says on chain`);

await mined(wallet.writeContract({ ...escrow, functionName: 'complete', args: [jobId, keccak256(stringToHex('as ordered')), '0x'] }));
const { payment } = await until('the payment', (job) => job.payment !== null);
console.log(`Completed: the provider was paid in ${payment!.txHash}`);

/** For the client and the evaluator of the job only, who sign for it. */
async function fetchDelivery(): Promise<Uint8Array> {
  const now = Date.now();
  const signature = await account.signMessage({ message: `Fetch svc job: ${getAddress(escrow.address)}:${jobId}:${now}` });
  const path = `/api/svc/commerce/jobs/${jobId}/deliverable`;
  const response = await reach(path, post({ wallet: account.address, timestamp: now, signature }));
  if (!response.ok) throw new Error(await response.text());
  return new Uint8Array(await response.arrayBuffer());
}

async function mined(sent: Promise<Hex>) {
  const receipt = await wallet.waitForTransactionReceipt({ hash: await sent });
  if (receipt.status === 'success') return receipt;
  throw new Error(`A transaction has failed: ${receipt.transactionHash}`);
}

/** Asks what became of the job, twice a second. A new one is known some seconds after its block. */
async function until(what: string, holds: (job: Job) => boolean): Promise<Job> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await delay(500)) {
    const response = await reach(`/api/svc/commerce/jobs/${jobId}`);
    if (response.status === 503) continue; // Its block is not deep enough yet.
    const job = await answerOf<Job>(response);
    if (job.accepted === false) throw new Error(`The job was rejected: ${job.reason}`);
    if (holds(job)) return job;
  }
  throw new Error(`Waited a minute for ${what}`);
}
