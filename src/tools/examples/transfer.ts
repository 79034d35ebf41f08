import { encodeFunctionData, type Hash, parseAbi } from 'viem';
import { sendTransactionsForHashes } from '../../dev/local-chain/contracts/send-transactions.ts';
import type { ExampleClient } from './example-client.ts';

const abi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);

/** Pays the price of a purchase as the list of offerings says; what is sent for it then. */
export async function payPurchase({ requestJson: json, wallets: { buyer }, rpcUrl }: ExampleClient, offering: string): Promise<object> {
  const { offerings } = await json('/api/svc/commerce/offerings?channel=purchase');
  const found = offerings.find(({ name }: { name: string }) => name === offering);
  if (found === undefined) throw new Error(`${offering} is not sold`);
  const { payee, asset } = found.howToPay;
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [payee, BigInt(found.price.amount)] });
  const [txHash] = (await sendTransactionsForHashes(rpcUrl, buyer, [{ to: asset, data }])) as [Hash];
  return { offering, txHash, wallet: buyer.address };
}
