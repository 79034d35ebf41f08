// Pays for a forecast with the request itself, by the official x402 client: npx node examples/x402/pay.ts [--print]
// As PRIVATE_KEY, or as the demonstration wallet "buyer". --print signs and prints the payment, and sends nothing.
import { ExactEvmScheme } from '@x402/evm';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client, x402HTTPClient } from '@x402/fetch';
import { answerOf, reach, service } from '../common/service.ts';
import { ownCoin, walletOf } from '../common/wallet.ts';

/** A HOLD is charged and complete like any signal: its probability and proof are what is sold. */
interface Answer {
  signal: 'BUY' | 'SELL' | 'HOLD';
  direction: 'UP' | 'DOWN';
  confidence: number;
  payment: { usd: string };
}

const RESOURCE = '/oracle?horizon=7d';
/** No answer may cost more, whatever a service asks for: 0.02 USD, in units of a coin with six decimals. */
const MOST = '20000';

const account = walletOf('buyer');
const allowedAssets = [{ network: 'eip155:*' as const, asset: ownCoin(), maxAmountPerPayment: MOST }];
const client = new x402Client().register('eip155:*', new ExactEvmScheme(account)).setSpendControls({ allowedAssets });

if (process.argv.includes('--print')) console.log(await signedPayment());
else await pay();

/** Asks, is answered 402 with the terms, signs an authorization (no gas) and asks again: the wrapped fetch does it all. */
async function pay(): Promise<void> {
  const response = await wrapFetchWithPayment(fetch, client)(`${service}${RESOURCE}`);
  const answer = await answerOf<Answer>(response);
  console.log(`${answer.signal}: ${answer.direction} with probability ${answer.confidence}`);
  const { payer, transaction } = decodePaymentResponseHeader(response.headers.get('payment-response')!);
  console.log(`Paid ${answer.payment.usd} USD as ${payer}, settled by ${transaction}`);
}

/** What goes into the header PAYMENT-SIGNATURE. Good for one answer, for some minutes. */
async function signedPayment(): Promise<string> {
  const http = new x402HTTPClient(client);
  const unpaid = await reach(RESOURCE);
  const terms = http.getPaymentRequiredResponse((name) => unpaid.headers.get(name));
  return http.encodePaymentSignatureHeader(await http.createPaymentPayload(terms))['PAYMENT-SIGNATURE'];
}
