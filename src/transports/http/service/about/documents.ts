import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';

export const DOCUMENTS = [
  { name: 'all operations', path: '/' },
  { name: 'OpenAPI 3.1 document', path: '/.well-known/openapi.json' },
  { name: 'AsyncAPI 3.1 document of events', path: ENDPOINTS.asyncApi },
  { name: 'API reference for browsers', path: '/docs' },
  { name: 'step-by-step instructions for agents', path: ENDPOINTS.skillFile },
  { name: 'skills with schemas and prices', path: ENDPOINTS.skills },
  { name: 'A2A agent card', path: ENDPOINTS.agentCard },
  { name: 'MCP endpoint', path: ENDPOINTS.mcp },
  { name: 'MCP registry entry', path: ENDPOINTS.mcpServer },
  { name: 'llms.txt', path: ENDPOINTS.llms },
  { name: 'methodology: how forecasts are made and verified', path: ENDPOINTS.methodology },
  { name: 'ERC-8004 registration file', path: ENDPOINTS.registration },
  { name: 'public keys of the agent card', path: ENDPOINTS.cardKeys },
  { name: 'public keys of session tokens', path: '/.well-known/jwks.json' },
  { name: 'standards and contracts with live state', path: '/api/claw/ecosystem' },
  { name: 'offerings and prices', path: '/api/svc/commerce/offerings' },
  { name: 'status of the service', path: '/api/status' },
] as const;
