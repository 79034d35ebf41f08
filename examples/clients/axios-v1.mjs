// x402-axios, the client of protocol version 1, as its README has it: https://www.npmjs.com/package/x402-axios
import axios from 'axios';
import { createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';
import { decodeXPaymentResponse, withPaymentInterceptor } from 'x402-axios';

export async function buy({ url, privateKey, init = { method: 'GET' } }) {
  const account = privateKeyToAccount(privateKey);
  const client = createWalletClient({ account, transport: http(), chain: baseSepolia });
  const api = withPaymentInterceptor(axios.create(), client);
  const response = await api.request({ url, ...init, data: init.body });
  const header = response.headers['x-payment-response'];
  return { answer: response.data, settlement: header && decodeXPaymentResponse(header) };
}
