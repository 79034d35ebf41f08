import { ICON_SVG } from '../../../../../agent-card/documents/icon.ts';
import { renderLlmsText } from '../../../../../agent-card/documents/llms.ts';
import { buildMcpServerFile } from '../../../../../agent-card/documents/mcp-server-file.ts';
import { renderMethodology } from '../../../../../agent-card/documents/methodology.ts';
import { renderSkillFile } from '../../../../../agent-card/documents/skill-file.ts';
import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import type { HttpDeps } from '../../deps.ts';
import { buildStrongEtag } from '../../server/replies/etag.ts';
import { createStaticReply } from '../../server/replies/static-reply.ts';
import { toTaggedReply } from '../../server/replies/tagged-reply.ts';
import { type Route, route } from '../../server/route.ts';
import { MCP_SERVER_FILE } from './schemas.ts';

const AN_HOUR = 'public, max-age=3600';

export function agentFileRoutes(deps: Pick<HttpDeps, 'hasOAuth' | 'publicUrl' | 'version'>): Route[] {
  return [
    route(`GET ${ENDPOINTS.mcpServer}`, 'getMcpServerFile', {
      tag: 'agent',
      summary: 'Entry for the MCP registry: server.json',
      reply: MCP_SERVER_FILE,
      handle: () => toTaggedReply(buildMcpServerFile(deps), { 'Cache-Control': AN_HOUR }),
    }),
    textRoute(ENDPOINTS.llms, 'getLlmsText', {
      summary: 'The service described for language models: llms.txt',
      type: 'text/plain',
      render: () => renderLlmsText(deps),
    }),
    textRoute(ENDPOINTS.skillFile, 'getSkillFile', {
      summary: 'Step-by-step instructions for agents: SKILL.md',
      type: 'text/markdown',
      render: () => renderSkillFile(deps),
    }),
    textRoute(ENDPOINTS.methodology, 'getMethodology', {
      summary: 'How forecasts are made, committed, resolved and scored',
      type: 'text/markdown',
      render: () => renderMethodology(deps),
    }),
    iconRoute(),
  ];
}

/** The page loads the icon also during startup. */
export function iconRoute(): Route {
  return textRoute(ENDPOINTS.icon, 'getIcon', {
    summary: 'Icon of the service',
    cost: 'free',
    type: 'image/svg+xml',
    render: () => ICON_SVG,
  });
}

interface TextFile extends Pick<Route, 'summary'>, Partial<Pick<Route, 'cost'>> {
  type: 'text/plain' | 'text/markdown' | 'image/svg+xml';
  render(): string;
}

function textRoute(path: string, name: string, { type, render, ...declared }: TextFile): Route {
  const headers = { 'Content-Type': `${type}; charset=utf-8`, 'Cache-Control': AN_HOUR };
  return route(`GET ${path}`, name, {
    ...declared,
    tag: 'agent',
    reply: null,
    alternatives: { [type]: { description: 'The file.' } },
    handle: createStaticReply(
      render,
      () => headers,
      (text) => `W/${buildStrongEtag(text)}`,
    ),
  });
}
