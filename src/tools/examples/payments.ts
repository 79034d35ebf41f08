import { x402Client, x402HTTPClient } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { encodeFunctionData, type Hash, parseAbi } from 'viem';
import { sendTransactionsForHashes } from '../../dev/local-chain/contracts/send-transactions.ts';
import type { ExampleClient } from './example-client.ts';

const abi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);

export async function payPurchase({ requestJson, wallets: { buyer }, rpcUrl }: ExampleClient, offering: string): Promise<object> {
  const { offerings } = await requestJson('/api/svc/commerce/offerings?channel=purchase');
  const found = offerings.find(({ name }: { name: string }) => name === offering);
  if (found === undefined) throw new Error(`${offering} is not sold`);
  const { payee, asset } = found.howToPay;
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [payee, BigInt(found.price.amount)] });
  const [txHash] = (await sendTransactionsForHashes(rpcUrl, buyer, [{ to: asset, data }])) as [Hash];
  return { offering, txHash, wallet: buyer.address };
}

export async function buildPayment(
  { request, wallets: { buyer } }: Pick<ExampleClient, 'request' | 'wallets'>,
  path: string,
): Promise<Record<string, string>> {
  // The library does not know the stablecoin of a local chain.
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(buyer)).setSpendControls({ allowedAssets: true });
  const http = new x402HTTPClient(client);
  const response = await request(path);
  const terms = http.getPaymentRequiredResponse((name) => response.headers.get(name), await response.json());
  return http.encodePaymentSignatureHeader(await http.createPaymentPayload(terms));
}
