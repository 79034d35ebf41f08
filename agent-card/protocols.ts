export const A2A_VERSION = '1.0';
export const A2A_LEGACY_VERSION = '0.3';
export const MCP_VERSION = '2026-07-28';
export const OPENAPI_VERSION = '3.1.0';
export const ASYNCAPI_VERSION = '3.1.0';
