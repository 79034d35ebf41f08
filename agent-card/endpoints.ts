/** Where agents reach the service and read of it, as paths of it: the only place that says so. */
export const ENDPOINTS = {
  /** A2A over JSON-RPC; also at `/`. */
  a2a: '/a2a',
  /** A2A over HTTP+JSON, as the base of its paths. */
  a2aRest: '/a2a/rest',
  /** MCP over Streamable HTTP. */
  mcp: '/mcp',
  agentCard: '/.well-known/agent-card.json',
  /** Public keys that the card is signed with. */
  cardKeys: '/.well-known/agent-card-jwks.json',
  /** ERC-8004 registration file, which the on-chain identity points to. */
  registration: '/.well-known/agent-registration.json',
  /** MCP registry entry. */
  mcpServer: '/.well-known/mcp/server.json',
  llms: '/llms.txt',
  skillFile: '/SKILL.md',
  methodology: '/methodology.md',
  skills: '/api/svc/skills',
  openApi: '/.well-known/openapi.json',
  /** What is pushed over the WebSocket and to webhooks. */
  asyncApi: '/.well-known/asyncapi.json',
  /** What is paid for with the request itself, and on which terms. */
  x402: '/.well-known/x402.json',
  /** The same as a bare list, for indexes. */
  x402Resources: '/.well-known/x402',
  icon: '/icon.svg',
} as const;
