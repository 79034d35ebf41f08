// x402-fetch, the client of protocol version 1, as its README has it: https://www.npmjs.com/package/x402-fetch
import { createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';
import { decodeXPaymentResponse, wrapFetchWithPayment } from 'x402-fetch';

export async function buy({ url, privateKey, init = { method: 'GET' } }) {
  const account = privateKeyToAccount(privateKey);
  const client = createWalletClient({ account, transport: http(), chain: baseSepolia });
  const fetchWithPay = wrapFetchWithPayment(fetch, client);
  const response = await fetchWithPay(url, init);
  const answer = await response.json();
  if (!response.ok) throw new Error(`${response.status}: ${answer.detail}`);
  const header = response.headers.get('X-PAYMENT-RESPONSE');
  return { answer, settlement: header && decodeXPaymentResponse(header) };
}
