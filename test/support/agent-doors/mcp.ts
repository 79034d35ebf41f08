import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type AgentDoor, type OpenDoor, type Outcome, refusalOf } from './door.ts';

const BIN = join(import.meta.dirname, '../../../bin/mcp.mjs');

export const openMcpHttp: OpenDoor = async ({ url, token }) => {
  const requestInit = token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } };
  return connected(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
};

/** The process that assistants start, beside a running service. */
export const openMcpStdio: OpenDoor = async ({ url, token }) => {
  const env = { PATH: process.env.PATH ?? '', ORACLE_URL: url, ...(token === undefined ? {} : { ORACLE_TOKEN: token }) };
  return connected(new StdioClientTransport({ command: process.execPath, args: [BIN], env, stderr: 'ignore' }));
};

async function connected(transport: Parameters<Client['connect']>[0]): Promise<AgentDoor> {
  const client = new Client({ name: 'scenarios', version: '1.0.0' });
  await client.connect(transport);
  return {
    run: async (name, input) => {
      try {
        return outcomeOf((await client.callTool({ name, arguments: input })) as ToolResult);
      } catch (error) {
        return refusalOf(((error as { data?: object }).data ?? {}) as object);
      }
    },
    close: () => client.close(),
  };
}

interface ToolResult {
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
  content: { type: string; text?: string }[];
  _meta?: Record<string, unknown>;
}

function outcomeOf({ isError, structuredContent, content, _meta }: ToolResult): Outcome {
  if (isError !== true) return { ok: true, output: structuredContent!, text: content[0]!.text! };
  return refusalOf((_meta?.['bitcoin-signal-oracle/error'] ?? {}) as object);
}
