/** What the official test suites of A2A and MCP call: the module of the setting `PROTOCOL_FIXTURES`. */

export { a2aFixtures } from './a2a.ts';
export { createMcpFixtures } from './mcp.ts';
