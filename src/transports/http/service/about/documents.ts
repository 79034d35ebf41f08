import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';

/** Documents and entry points. */
export const DOCUMENTS = [
  { name: 'everything that is served', path: '/' },
  { name: 'reference for programs, OpenAPI 3.1', path: '/.well-known/openapi.json' },
  { name: 'events that are pushed, for programs, AsyncAPI 3.1', path: ENDPOINTS.asyncApi },
  { name: 'reference for people', path: '/docs' },
  { name: 'how agents use it, step by step', path: ENDPOINTS.skillFile },
  { name: 'skills with their schemas and prices', path: ENDPOINTS.skills },
  { name: 'A2A agent card', path: ENDPOINTS.agentCard },
  { name: 'MCP endpoint', path: ENDPOINTS.mcp },
  { name: 'MCP registry entry', path: ENDPOINTS.mcpServer },
  { name: 'the service for language models', path: ENDPOINTS.llms },
  { name: 'how forecasts are made and checked', path: ENDPOINTS.methodology },
  { name: 'ERC-8004 registration file', path: ENDPOINTS.registration },
  { name: 'public keys of the agent card', path: ENDPOINTS.cardKeys },
  { name: 'public keys of session tokens', path: '/.well-known/jwks.json' },
  { name: 'standards and contracts with their live state', path: '/api/claw/ecosystem' },
  { name: 'offerings and prices', path: '/api/svc/commerce/offerings' },
  { name: 'state of the service', path: '/api/status' },
] as const;
