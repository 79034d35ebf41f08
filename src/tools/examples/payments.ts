import { x402Client, x402HTTPClient } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
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

/** Signs a payment for a path as any x402 client does, by the terms of its 402; the headers that carry it. */
export async function buildPayment(
  { request: ask, wallets: { buyer } }: Pick<ExampleClient, 'request' | 'wallets'>,
  path: string,
): Promise<Record<string, string>> {
  // The stablecoin of a local chain is not the one that the library knows.
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(buyer)).setSpendControls({ allowedAssets: true });
  const http = new x402HTTPClient(client);
  const refused = await ask(path);
  const terms = http.getPaymentRequiredResponse((name) => refused.headers.get(name), await refused.json());
  return http.encodePaymentSignatureHeader(await http.createPaymentPayload(terms));
}
