import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type AgentClient, type OpenAgentClient, type Outcome, toErrorOutcome } from './client.ts';

const BIN = join(import.meta.dirname, '../../../bin/mcp.mjs');

export const openMcpHttp: OpenAgentClient = async ({ url, token }) => {
  const requestInit = token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } };
  return connectClient(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
};

/** The process that assistants start, beside a running service. */
export const openMcpStdio: OpenAgentClient = async ({ url, token }) => {
  const env = { PATH: process.env.PATH ?? '', ORACLE_URL: url, ...(token === undefined ? {} : { ORACLE_TOKEN: token }) };
  return connectClient(new StdioClientTransport({ command: process.execPath, args: [BIN], env, stderr: 'ignore' }));
};

async function connectClient(transport: Parameters<Client['connect']>[0]): Promise<AgentClient> {
  const client = new Client({ name: 'scenarios', version: '1.0.0' });
  await client.connect(transport);
  return {
    run: async (name, input) => {
      try {
        return toToolOutcome((await client.callTool({ name, arguments: { form: 'full', ...input } })) as ToolResult);
      } catch (error) {
        return toErrorOutcome(((error as { data?: object }).data ?? {}) as object);
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

function toToolOutcome({ isError, structuredContent, content, _meta }: ToolResult): Outcome {
  if (isError !== true) return { ok: true, output: structuredContent!, text: content[0]!.text! };
  return toErrorOutcome((_meta?.['bitcoin-signal-oracle/error'] ?? {}) as object);
}
