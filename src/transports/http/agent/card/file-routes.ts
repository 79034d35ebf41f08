import { createHash } from 'node:crypto';
import { ICON_SVG } from '../../../../../agent-card/documents/icon.ts';
import { renderLlmsText } from '../../../../../agent-card/documents/llms.ts';
import { buildMcpServerFile } from '../../../../../agent-card/documents/mcp-server-file.ts';
import { renderMethodology } from '../../../../../agent-card/documents/methodology.ts';
import { renderSkillFile } from '../../../../../agent-card/documents/skill-file.ts';
import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import type { HttpDeps } from '../../deps.ts';
import { EncodedText } from '../../server/replies/encoded-text.ts';
import { buildWeakEtag } from '../../server/replies/etag.ts';
import { type Route, route } from '../../server/route.ts';
import { MCP_SERVER_FILE } from './schemas.ts';

const AN_HOUR = 'public, max-age=3600';

/** What the service tells of itself to agents and their authors, each from the same constants. */
export function agentFileRoutes(deps: Pick<HttpDeps, 'publicUrl' | 'version'>): Route[] {
  return [
    serverFileRoute(deps),
    textRoute({
      path: ENDPOINTS.llms,
      name: 'getLlmsText',
      summary: 'The service for language models: llms.txt',
      type: 'text/plain',
      write: () => renderLlmsText(deps),
    }),
    textRoute({
      path: ENDPOINTS.skillFile,
      name: 'getSkillFile',
      summary: 'How an agent uses this service, step by step: SKILL.md',
      type: 'text/markdown',
      write: () => renderSkillFile(deps),
    }),
    textRoute({
      path: ENDPOINTS.methodology,
      name: 'getMethodology',
      summary: 'How forecasts are made, committed, resolved and scored, and what they are worth',
      type: 'text/markdown',
      write: () => renderMethodology(deps),
    }),
    iconRoute(),
  ];
}

/** Part of the page too: served before the other files are there. */
export function iconRoute(): Route {
  return textRoute({
    path: ENDPOINTS.icon,
    name: 'getIcon',
    summary: 'The icon of this service',
    cost: 'free',
    type: 'image/svg+xml',
    write: () => ICON_SVG,
  });
}

function serverFileRoute(deps: Pick<HttpDeps, 'publicUrl' | 'version'>): Route {
  return route({
    path: ENDPOINTS.mcpServer,
    name: 'getMcpServerFile',
    tag: 'agent',
    summary: 'Entry for the MCP registry: server.json',
    reply: MCP_SERVER_FILE,
    handle() {
      const body = buildMcpServerFile(deps);
      return { headers: { 'Cache-Control': AN_HOUR, ETag: buildWeakEtag(body) }, body };
    },
  });
}

interface TextFile extends Pick<Route, 'path' | 'name' | 'summary'>, Partial<Pick<Route, 'cost'>> {
  type: 'text/plain' | 'text/markdown' | 'image/svg+xml';
  write(): string;
}

/** A text that is made when it is first asked for, and kept: it stays the same for as long as the process runs. */
function textRoute({ type, write, ...named }: TextFile): Route {
  let cached: { text: EncodedText; etag: string } | undefined;
  return route({
    ...named,
    tag: 'agent',
    reply: null,
    alternatives: { [type]: { description: 'The file.' } },
    handle() {
      cached ??= buildTaggedText(write());
      return { headers: { 'Content-Type': `${type}; charset=utf-8`, 'Cache-Control': AN_HOUR, ETag: cached.etag }, encoded: cached.text };
    },
  });
}

function buildTaggedText(text: string): { text: EncodedText; etag: string } {
  return { text: new EncodedText(text), etag: `W/"${createHash('sha256').update(text).digest('base64url')}"` };
}
