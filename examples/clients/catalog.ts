import { readFile } from 'node:fs/promises';

/** What a client is asked to buy, and with which wallet. `init` is for HTTP, a GET request unless set; `tool` for MCP, `request` for A2A. */
export interface Order {
  url: string;
  privateKey: string;
  /** Read-only JSON-RPC of the chain that the service publishes. */
  rpcUrl: string;
  init?: { method: 'POST'; headers: Record<string, string>; body: string };
  tool?: { name: string; arguments: Record<string, unknown> };
  request?: { skill: string; input: Record<string, unknown> };
}

/** `answer` has `payment` and `receipt`, unless it was free; `settlement` is the protocol's own receipt. */
export interface Bought {
  answer: Record<string, unknown>;
  settlement?: { success: boolean; transaction: string } | null;
}

/** A client throws where the service, or the client itself, rejects the payment. */
interface ClientModule {
  buy?(order: Order): Promise<Bought>;
  find?(agent: { rpcUrl: string; agentId: string }): Promise<Record<string, unknown>>;
}

export interface StockClient {
  /** For `--as`. */
  name: string;
  packageName: string;
  file: string;
  /** What it can buy; the first for `--as`. */
  interfaces: readonly InterfaceName[];
  /** It reads the registry of ERC-8004; `--as` does that alone. */
  finds?: true;
}

/** `access` asks for payment requirements; without it an assistant gets the public part of the answer. */
const PAID_TOOL = { name: 'predict_btc_direction', arguments: { horizon: '7d', access: 'pay' } };

export const INTERFACES = {
  premium: { title: 'GET /oracle/premium', order: (service: string) => ({ url: `${service}/oracle/premium?horizon=7d` }) },
  signal: { title: 'GET /oracle', order: (service: string) => ({ url: `${service}/oracle?horizon=7d` }) },
  skill: {
    title: 'POST predict_btc_direction',
    order: (service: string) => ({
      url: `${service}/api/svc/skills/predict_btc_direction`,
      init: { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ horizon: '7d' }) },
    }),
  },
  mcp: {
    title: 'MCP predict_btc_direction',
    order: (service: string) => ({ url: `${service}/mcp`, tool: PAID_TOOL }),
  },
  a2a: {
    title: 'A2A predict_btc_direction',
    order: (service: string) => ({ url: service, request: { skill: 'predict_btc_direction', input: { horizon: '7d' } } }),
  },
} as const satisfies Record<string, { title: string; order(service: string): Omit<Order, 'privateKey' | 'rpcUrl'> }>;

export type InterfaceName = keyof typeof INTERFACES;

const HTTP = ['premium', 'signal', 'skill'] as const;

export const STOCK_CLIENTS: readonly StockClient[] = [
  { name: '@x402/fetch', packageName: '@x402/fetch', file: 'fetch.mjs', interfaces: HTTP },
  { name: '@x402/axios', packageName: '@x402/axios', file: 'axios.mjs', interfaces: HTTP },
  { name: 'x402-fetch', packageName: 'x402-fetch', file: 'fetch-v1.mjs', interfaces: HTTP },
  { name: 'x402-axios', packageName: 'x402-axios', file: 'axios-v1.mjs', interfaces: HTTP },
  { name: 'mcp', packageName: '@modelcontextprotocol/client', file: 'mcp.mjs', interfaces: ['mcp'] },
  { name: 'mcp-v1', packageName: '@modelcontextprotocol/sdk', file: 'mcp-v1.mjs', interfaces: ['mcp'] },
  { name: 'a2a', packageName: '@a2a-js/sdk', file: 'a2a.mjs', interfaces: ['a2a'] },
  { name: 'a2a-0.3', packageName: 'a2a-sdk-0.3', file: 'a2a-0.3.mjs', interfaces: ['a2a'] },
  { name: 'agent0-sdk', packageName: 'agent0-sdk', file: 'agent0.mjs', interfaces: HTTP, finds: true },
];

/** The code of a client, which needs the packages of this folder installed. */
export function loadClient({ file }: StockClient): Promise<ClientModule> {
  return import(new URL(file, import.meta.url).href);
}

/** As installed, such as `@x402/fetch 2.27.0`. */
export async function readInstalledVersion({ packageName }: StockClient): Promise<string> {
  const text = await readFile(new URL(`node_modules/${packageName}/package.json`, import.meta.url), 'utf8');
  const { name, version } = JSON.parse(text) as { name: string; version: string };
  return `${name} ${version}`;
}
