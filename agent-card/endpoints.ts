/** Paths of the service that agents use; no other file names them. */
export const ENDPOINTS = {
  /** A2A over JSON-RPC; also served at `/`. */
  a2a: '/a2a',
  /** A2A over HTTP+JSON, base path. */
  a2aRest: '/a2a/rest',
  mcp: '/mcp',
  /** The same for assistants that authorize by OAuth. */
  mcpAccount: '/mcp/account',
  agentCard: '/.well-known/agent-card.json',
  cardKeys: '/.well-known/agent-card-jwks.json',
  /** ERC-8004 registration file, named by the identity on chain. */
  registration: '/.well-known/agent-registration.json',
  mcpServer: '/.well-known/mcp/server.json',
  /** Reserved for the card by SEP-2127: the URL of the server and `/server-card`. */
  mcpServerCard: '/mcp/server-card',
  /** Where readers of SEP-1649 look for it. */
  mcpServerCardWellKnown: '/.well-known/mcp/server-card.json',
  aiCatalog: '/.well-known/ai-catalog.json',
  /** RFC 9727. */
  apiCatalog: '/.well-known/api-catalog',
  llms: '/llms.txt',
  skillFile: '/SKILL.md',
  methodology: '/methodology.md',
  skills: '/api/svc/skills',
  openApi: '/.well-known/openapi.json',
  asyncApi: '/.well-known/asyncapi.json',
  webSocket: '/ws/signal',
  /** API reference for browsers. */
  reference: '/docs',
  health: '/health',
  x402: '/.well-known/x402.json',
  /** The same as a bare list, for x402 indexers. */
  x402Resources: '/.well-known/x402',
  icon: '/icon.svg',
} as const;
