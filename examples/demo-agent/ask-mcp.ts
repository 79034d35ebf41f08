import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Agent } from './agent.ts';
import { patientFetch } from './ask.ts';
import { beginStep, check, narrate } from './narrate.ts';
import type { Terms } from './read-price.ts';
import { checkReceipt, type Receipt } from './receipt.ts';

/** Without `access` an assistant gets what is public of the forecast; a payer asks for the payment requirements. */
const FORECAST = { name: 'predict_btc_direction', arguments: { horizon: '7d', access: 'pay' } };

interface PaidMeta {
  'x402/payment-response': { success: boolean; transaction: string };
  'bitcoin-signal-oracle/receipt': { receipt: Receipt };
}

/** The same over MCP, as an assistant would ask: a tool for everybody, and one that is paid for with the call. */
export async function askMcp(agent: Agent, { seller }: Terms): Promise<void> {
  beginStep('Ask over MCP');
  const client = new Client({ name: 'demo-agent', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${agent.service}/mcp`), { fetch: patientFetch }));
  try {
    const record = await client.callTool({ name: 'get_track_record', arguments: { horizon: '7d' } });
    narrate(`get_track_record, free: ${firstLine(record)}`);
    const unpaid = await client.callTool(FORECAST);
    check(unpaid.isError === true, 'predict_btc_direction asks for a payment');
    const payment = await agent.payer.createPaymentPayload(JSON.parse(textOf(unpaid)));
    const paid = await client.callTool({ ...FORECAST, _meta: { 'x402/payment': payment } });
    check(paid.isError !== true, `and answers for it: ${firstLine(paid)}`, firstLine(paid));
    const { 'x402/payment-response': settled, 'bitcoin-signal-oracle/receipt': sold } = paid._meta as unknown as PaidMeta;
    check(settled.success && settled.transaction === sold.receipt.message.txHash, 'the payment is settled');
    await checkReceipt(agent, sold.receipt, { answer: paid.structuredContent, seller });
  } finally {
    await client.close();
  }
}

function firstLine(result: CallToolResult): string {
  return textOf(result).split('\n')[0].slice(0, 200);
}

function textOf({ content: [first] }: CallToolResult): string {
  return first?.type === 'text' ? first.text : '';
}
