import { x402Client, x402HTTPClient } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { answerParent } from '../lib.ts';

interface Purchase {
  /** Of the paid resource. */
  url: string;
  buyer: Hex;
}

/** Milliseconds from sending a signed payment to its whole answer. */
async function buy(client: x402HTTPClient, url: string): Promise<number> {
  const unpaid = await fetch(url);
  const required = client.getPaymentRequiredResponse((name) => unpaid.headers.get(name), await unpaid.json());
  const headers = client.encodePaymentSignatureHeader(await client.createPaymentPayload(required));
  const startedAtMs = performance.now();
  const paid = await fetch(url, { headers });
  const text = await paid.text();
  const ms = performance.now() - startedAtMs;
  if (paid.status !== 200 || !client.getPaymentSettleResponse((name) => paid.headers.get(name)).success)
    throw new Error(`a payment of ${url} was answered ${paid.status}: ${text}`);
  return ms;
}

const answers = {
  /** Buys with the official client, and returns the time of it. */
  buy({ url, buyer }: Purchase): Promise<number> {
    const scheme = new ExactEvmScheme(privateKeyToAccount(buyer));
    const client = new x402Client().register('eip155:*', scheme).setSpendControls({ allowedAssets: true });
    return buy(new x402HTTPClient(client), url);
  },
};

export type PaidClientAnswers = typeof answers;

answerParent(answers);
