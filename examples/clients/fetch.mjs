// @x402/fetch, as its README has it: https://www.npmjs.com/package/@x402/fetch
import { ExactEvmScheme } from '@x402/evm';
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';

export async function buy({ url, privateKey, init = { method: 'GET' } }) {
  const account = privateKeyToAccount(privateKey);
  const fetchWithPayment = wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [{ network: 'eip155:84532', client: new ExactEvmScheme(account) }],
  });
  const response = await fetchWithPayment(url, init);
  const answer = await response.json();
  if (!response.ok) throw new Error(`${response.status}: ${answer.detail}`);
  const header = response.headers.get('PAYMENT-RESPONSE');
  return { answer, settlement: header && decodePaymentResponseHeader(header) };
}
