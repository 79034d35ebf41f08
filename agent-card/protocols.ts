export const A2A_VERSION = '1.0';
export const A2A_LEGACY_VERSION = '0.3';
export const MCP_VERSION = '2026-07-28';
/** Every revision that the MCP endpoint serves, the newest first. */
export const MCP_VERSIONS = [MCP_VERSION, '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const;
export const OPENAPI_VERSION = '3.1.0';
export const ASYNCAPI_VERSION = '3.1.0';
