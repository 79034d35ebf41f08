// MCP over standard input and output, as an assistant starts it: npx node examples/mcp/stdio.ts
import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { service } from '../common/service.ts';

const folder = resolve(import.meta.dirname, '../..');
const { DATA_DIR = 'data' } = process.env;

// These two lines are what goes into the settings of an assistant: docs/ASSISTANTS.md has them for each.
// Without ORACLE_URL it uses the service of this machine, or starts one.
const client = new Client({ name: 'example', version: '1.0.0' });
await client.connect(
  new StdioClientTransport({
    command: 'npm',
    args: ['--prefix', folder, 'run', '-s', 'mcp', '--', '--wallet', 'basic'],
    env: { ...getDefaultEnvironment(), ORACLE_URL: service, DATA_DIR: resolve(DATA_DIR) },
    stderr: 'ignore',
  }),
);

const { tools } = await client.listTools();
for (const { name, title } of tools) console.log(`${name}: ${title}`);

// --wallet logs the demonstration wallet in, and renews its token: no token is needed here.
const { content } = await client.callTool({ name: 'predict_btc_direction', arguments: { horizon: '7d' } });
const [answer] = content;
if (answer.type === 'text') console.log(`\n${answer.text}`);
await client.close();
