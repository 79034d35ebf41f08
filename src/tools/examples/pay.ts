import { x402Client, x402HTTPClient } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import type { ExampleClient } from './example-client.ts';

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
