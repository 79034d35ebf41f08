import { createHash } from 'node:crypto';
import { ENDPOINTS } from '../../../agent-card/endpoints.ts';
import { ICON_SVG } from '../../../agent-card/icon.ts';
import { llmsText } from '../../../agent-card/llms.ts';
import { mcpServerFile } from '../../../agent-card/mcp-server-file.ts';
import { methodologyMarkdown } from '../../../agent-card/methodology.ts';
import { skillFile } from '../../../agent-card/skill-file.ts';
import { EncodedText } from '../encoded-text.ts';
import { weakEtag } from '../etag.ts';
import type { HttpParts } from '../parts.ts';
import { type Route, route } from '../route.ts';
import { MCP_SERVER_FILE } from '../schemas/agent-card.ts';

const AN_HOUR = 'public, max-age=3600';

/** What the service tells of itself to agents and their authors, each from the same constants. */
export function agentFileRoutes(parts: Pick<HttpParts, 'publicUrl' | 'version'>): Route[] {
  return [
    serverFileRoute(parts),
    textRoute({
      path: ENDPOINTS.llms,
      name: 'getLlmsText',
      summary: 'The service for language models: llms.txt',
      type: 'text/plain',
      write: () => llmsText(parts),
    }),
    textRoute({
      path: ENDPOINTS.skillFile,
      name: 'getSkillFile',
      summary: 'How an agent uses this service, step by step: SKILL.md',
      type: 'text/markdown',
      write: () => skillFile(parts),
    }),
    textRoute({
      path: ENDPOINTS.methodology,
      name: 'getMethodology',
      summary: 'How forecasts are made, committed, resolved and scored, and what they are worth',
      type: 'text/markdown',
      write: () => methodologyMarkdown(parts),
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

function serverFileRoute(parts: Pick<HttpParts, 'publicUrl' | 'version'>): Route {
  return route({
    path: ENDPOINTS.mcpServer,
    name: 'getMcpServerFile',
    tag: 'agent',
    summary: 'Entry for the MCP registry: server.json',
    reply: MCP_SERVER_FILE,
    handle() {
      const body = mcpServerFile(parts);
      return { headers: { 'Cache-Control': AN_HOUR, ETag: weakEtag(body) }, body };
    },
  });
}

interface TextFile extends Pick<Route, 'path' | 'name' | 'summary'>, Partial<Pick<Route, 'cost'>> {
  type: 'text/plain' | 'text/markdown' | 'image/svg+xml';
  write(): string;
}

/** A text that is made when it is first asked for, and kept: it stays the same for as long as the process runs. */
function textRoute({ type, write, ...named }: TextFile): Route {
  let made: { text: EncodedText; etag: string } | undefined;
  return route({
    ...named,
    tag: 'agent',
    reply: null,
    alternatives: { [type]: { description: 'The file.' } },
    handle() {
      made ??= tagged(write());
      return { headers: { 'Content-Type': `${type}; charset=utf-8`, 'Cache-Control': AN_HOUR, ETag: made.etag }, encoded: made.text };
    },
  });
}

function tagged(text: string): { text: EncodedText; etag: string } {
  return { text: new EncodedText(text), etag: `W/"${createHash('sha256').update(text).digest('base64url')}"` };
}
