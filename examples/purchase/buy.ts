// Buys a document by a transfer, whose hash is the proof: npx node examples/purchase/buy.ts [--print]
// As PRIVATE_KEY, or as the demonstration wallet "buyer". --print pays and prints the request that fetches it.
import { erc20Abi, formatUnits } from 'viem';
import { findOffering } from '../common/offering.ts';
import { ask, post } from '../common/service.ts';
import { openWallet, walletOf } from '../common/wallet.ts';

const OFFERING = 'svc_verified_track_record';
const DECIMALS = 6;

interface Delivery {
  title: string;
  document: Record<string, unknown>;
  receipt: { signer: string; message: { amount: string; txHash: string; answerHash: string } };
  /** Whether it was delivered before. */
  again: boolean;
}

const order = await paidOrder();
if (process.argv.includes('--print')) console.log(JSON.stringify(order));
else await fetchDocument();

/** The full price in one transaction, and the signature of the wallet that paid: others can read the hash too. */
async function paidOrder() {
  const account = walletOf('buyer');
  const wallet = openWallet(account);
  const { price, asset, payee } = await findOffering('purchase', OFFERING);
  const call = { address: asset, abi: erc20Abi, functionName: 'transfer', args: [payee, price], chain: null } as const;
  const txHash = await wallet.writeContract(call);
  const { status } = await wallet.waitForTransactionReceipt({ hash: txHash });
  if (status !== 'success') throw new Error(`The transfer has failed: ${txHash}. Does ${account.address} hold the price?`);
  const signature = await account.signMessage({ message: `Buy svc offering: ${OFFERING}:${txHash}` });
  return { offering: OFFERING, txHash, wallet: account.address, signature };
}

/** The same request gets the same document again, at any later time. */
async function fetchDocument(): Promise<void> {
  const { title, document, receipt } = await ask<Delivery>('/api/svc/commerce/purchase', post(order));
  const { amount, txHash, answerHash } = receipt.message;
  console.log(`${title}: ${Object.keys(document).join(', ')}`);
  console.log(`Paid ${formatUnits(BigInt(amount), DECIMALS)} USD in ${txHash}`);
  console.log(`Receipt for the document with the hash ${answerHash}, signed by ${receipt.signer}`);
  const { again } = await ask<Delivery>('/api/svc/commerce/purchase', post(order));
  if (again) console.log('Fetched once more: the same, and nothing was charged');
}
