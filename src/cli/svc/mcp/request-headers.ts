import type { RpcBody, RpcMessage } from './rpc-message.ts';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/** Parameters that `Mcp-Name` repeats, by method (MCP 2026-07-28, "Streamable HTTP", standard request headers). */
const NAME_PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** Headers that Streamable HTTP requires of a message. @param negotiated The revision of the last `initialize`, if there was one. */
export function buildRequestHeaders(body: RpcBody, negotiated: string | undefined): Record<string, string> {
  const own = Array.isArray(body) ? undefined : readOwnRevision(body);
  if (own === undefined || Array.isArray(body)) return negotiated === undefined ? {} : { 'MCP-Protocol-Version': negotiated };
  const name = body.params?.[NAME_PARAMETERS.get(body.method ?? '') ?? ''];
  return {
    'MCP-Protocol-Version': own,
    ...(body.method === undefined ? {} : { 'Mcp-Method': encodeHeaderValue(body.method) }),
    ...(typeof name === 'string' ? { 'Mcp-Name': encodeHeaderValue(name) } : {}),
  };
}

/** Revisions from 2026-07-28 on name themselves in each message. */
function readOwnRevision({ params }: RpcMessage): string | undefined {
  const revision = (params?._meta as Record<string, unknown> | undefined)?.[VERSION_KEY];
  return typeof revision === 'string' && /^[\x21-\x7e]+$/.test(revision) ? revision : undefined;
}

/** Text outside printable ASCII, or that reads like this encoding, is sent in Base64 between markers. */
export function encodeHeaderValue(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}
