// The client of version 0.3 of the A2A SDK (npm install @a2a-js/sdk@0.3), with the x402 extension of A2A:
// https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2/spec.md
import { randomUUID } from 'node:crypto';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { x402Client } from '@x402/fetch';
import { ClientFactory, ServiceParameters, withA2AExtensions } from 'a2a-sdk-0.3/client';
import { privateKeyToAccount } from 'viem/accounts';

const X402 = 'https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2';

export async function buy({ url, privateKey, request }) {
  const payer = registerExactEvmScheme(new x402Client(), { signer: privateKeyToAccount(privateKey) });
  const client = await new ClientFactory().createFromUrl(url);
  const options = { serviceParameters: ServiceParameters.create(withA2AExtensions(X402)) };
  const send = (message) =>
    client.sendMessage({ message: { kind: 'message', messageId: randomUUID(), role: 'user', ...message } }, options);

  const { id: taskId, contextId, status } = await send({ parts: [{ kind: 'data', data: request }] });
  const payment = await payer.createPaymentPayload(status.message.metadata['x402.payment.required']);
  const metadata = { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payment };
  const task = await send({ taskId, contextId, parts: [{ kind: 'text', text: 'Here is the payment.' }], metadata });

  const { metadata: sold } = task.status.message;
  if (sold['x402.payment.status'] !== 'payment-completed') throw new Error(sold['x402.payment.error']);
  const [settlement] = sold['x402.payment.receipts'];
  const answer = task.artifacts[0].parts.find(({ kind }) => kind === 'data').data;
  return { answer: { ...answer, ...sold['bitcoin-signal-oracle/receipt'] }, settlement };
}
