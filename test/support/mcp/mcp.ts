import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

// biome-ignore lint/suspicious/noExplicitAny: answers are what is tested
type Answer = any;

/** What the official clients have in common. */
export interface McpClient {
  /** The revision that it speaks with the server. */
  revision: string | undefined;
  listTools(): Promise<Answer>;
  callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<Answer>;
  listResources(): Promise<Answer>;
  listResourceTemplates(): Promise<Answer>;
  readResource(resource: { uri: string }): Promise<Answer>;
  listPrompts(): Promise<Answer>;
  getPrompt(prompt: { name: string; arguments?: Record<string, string> }): Promise<Answer>;
  complete(params: Record<string, unknown>): Promise<Answer>;
  getInstructions(): string | undefined;
  getServerVersion(): Answer;
  getServerCapabilities(): Answer;
  close(): Promise<void>;
}

/** Clients by what they speak: the newest revision, the one that it negotiates with servers of before, and the client of before. */
export const MCP_CLIENTS = {
  '2026-07-28': (url, headers) => newer(url, headers, 'auto'),
  '2025-11-25': (url, headers) => newer(url, headers, 'legacy'),
  'SDK 1': async (url, headers) => {
    const client = new OlderClient({ name: 'test', version: '1.0.0' });
    const transport = new OlderTransport(new URL(`${url}/mcp`), { requestInit: { headers } });
    await client.connect(transport as Parameters<OlderClient['connect']>[0]);
    return Object.assign(client as unknown as McpClient, { revision: transport.protocolVersion });
  },
} as const satisfies Record<string, (url: string, headers: Record<string, string>) => Promise<McpClient>>;

async function newer(url: string, headers: Record<string, string>, mode: 'auto' | 'legacy'): Promise<McpClient> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  return Object.assign(client as unknown as McpClient, { revision: client.getNegotiatedProtocolVersion() });
}

export const MCP_HEADERS = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };

export interface McpReply {
  status: number;
  headers: Headers;
  text: string;
  /** The JSON-RPC messages of it, however they were framed. */
  messages: Answer[];
}

/** One POST, its body sent as it is. */
export async function postMcp(url: string, body: unknown, headers: Record<string, string> = {}): Promise<McpReply> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${url}/mcp`, { method: 'POST', headers: { ...MCP_HEADERS, ...headers }, body: text });
  return replyOf(response.status, response.headers, await response.text());
}

export function replyOf(status: number, headers: Headers, text: string): McpReply {
  const frames = /^text\/event-stream/.test(headers.get('content-type') ?? '')
    ? [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => data!)
    : text === ''
      ? []
      : [text];
  return { status, headers, text, messages: frames.flatMap((frame) => JSON.parse(frame)) };
}

/** A request of the revisions before 2026-07-28. */
export function rpc(method: string, params: Record<string, unknown> = {}, id: number | string = 1) {
  return { jsonrpc: '2.0', id, method, params };
}
