// @x402/axios, as its README has it: https://www.npmjs.com/package/@x402/axios
import { decodePaymentResponseHeader, wrapAxiosWithPaymentFromConfig } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm';
import axios from 'axios';
import { privateKeyToAccount } from 'viem/accounts';

export async function buy({ url, privateKey, init = { method: 'GET' } }) {
  const account = privateKeyToAccount(privateKey);
  const api = wrapAxiosWithPaymentFromConfig(axios.create(), {
    schemes: [{ network: 'eip155:84532', client: new ExactEvmScheme(account) }],
  });
  const response = await api.request({ url, ...init, data: init.body });
  const header = response.headers['payment-response'];
  return { answer: response.data, settlement: header && decodePaymentResponseHeader(header) };
}
