// MCP over HTTP, by the official client: tools, a call, a resource, a prompt: npx node examples/mcp/http.ts
// The gated tool is called as PRIVATE_KEY, or as the demonstration wallet "basic".
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { bearer, logIn } from '../common/login.ts';
import { service } from '../common/service.ts';
import { walletOf } from '../common/wallet.ts';

// Only predict_btc_direction asks for the token.
const headers = bearer(await logIn(walletOf('basic')));
const client = new Client({ name: 'example', version: '1.0.0' });
await client.connect(new StreamableHTTPClientTransport(new URL(`${service}/mcp`), { requestInit: { headers } }));

const { tools } = await client.listTools();
console.log(`Tools: ${tools.map(({ name }) => name).join(', ')}`);

const record = await client.callTool({ name: 'get_track_record', arguments: { horizon: '7d', pageSize: 1 } });
console.log(`\nget_track_record\n${textOf(record)}`);

const forecast = await client.callTool({ name: 'predict_btc_direction', arguments: { horizon: '7d' } });
// The same as data, in the form of the tool's output schema.
const { signal, direction, confidence } = forecast.structuredContent as Record<string, unknown>;
console.log(`\npredict_btc_direction\n${textOf(forecast)}\n${JSON.stringify({ signal, direction, confidence })}`);

const { contents } = await client.readResource({ uri: 'oracle://scorecard/7d' });
console.log(`\noracle://scorecard/7d: ${JSON.stringify(contents).length} characters`);
const { prompts } = await client.listPrompts();
console.log(`Prompts: ${prompts.map(({ name }) => name).join(', ')}`);
await client.close();

/** Tools answer with sentences first. */
function textOf({ content }: { content: { type: string; text?: string }[] }): string {
  return content[0].text ?? '';
}
