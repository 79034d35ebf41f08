// The client of version 1 of the MCP SDK (https://www.npmjs.com/package/@modelcontextprotocol/sdk), with x402 inside MCP:
// https://github.com/coinbase/x402/blob/main/specs/transports-v2/mcp.md
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ExactEvmScheme } from '@x402/evm';
import { x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';

export async function buy({ url, privateKey, tool }) {
  const payer = new x402Client().register('eip155:84532', new ExactEvmScheme(privateKeyToAccount(privateKey)));
  const client = new Client({ name: 'my-client', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  try {
    await client.listTools();
    const unpaid = await client.callTool(tool);
    const payment = await payer.createPaymentPayload(JSON.parse(unpaid.content[0].text));
    const result = await client.callTool({ ...tool, _meta: { 'x402/payment': payment } });
    if (result.isError) throw new Error(result.content[0].text);
    const { 'x402/payment-response': settlement, 'bitcoin-signal-oracle/receipt': sold } = result._meta;
    return { answer: { ...result.structuredContent, ...sold }, settlement };
  } finally {
    await client.close();
  }
}
