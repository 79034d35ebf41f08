// The client of the A2A SDK (https://www.npmjs.com/package/@a2a-js/sdk), with the x402 extension of A2A:
// https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2/spec.md
import { randomUUID } from 'node:crypto';
import { Role } from '@a2a-js/sdk';
import { ClientFactory, ServiceParameters, withA2AExtensions } from '@a2a-js/sdk/client';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';

const X402 = 'https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2';

export async function buy({ url, privateKey, request }) {
  const payer = registerExactEvmScheme(new x402Client(), { signer: privateKeyToAccount(privateKey) });
  const client = await new ClientFactory().createFromUrl(url);
  const options = { serviceParameters: ServiceParameters.create(withA2AExtensions(X402)) };
  const send = (message) => client.sendMessage({ message: { messageId: randomUUID(), role: Role.ROLE_USER, ...message } }, options);

  const { id: taskId, contextId, status } = await send({ parts: [{ content: { $case: 'data', value: request } }] });
  const payment = await payer.createPaymentPayload(status.message.metadata['x402.payment.required']);
  const metadata = { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payment };
  const parts = [{ content: { $case: 'text', value: 'Here is the payment.' } }];
  const task = await send({ taskId, contextId, parts, metadata });

  const { metadata: sold } = task.status.message;
  if (sold['x402.payment.status'] !== 'payment-completed') throw new Error(sold['x402.payment.error']);
  const [settlement] = sold['x402.payment.receipts'];
  const answer = task.artifacts[0].parts.find(({ content }) => content.$case === 'data').content.value;
  return { answer: { ...answer, ...sold['bitcoin-signal-oracle/receipt'] }, settlement };
}
