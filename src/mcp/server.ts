import { McpServer } from '@modelcontextprotocol/server';
import { IDENTITY } from '../../agent-card/identity.ts';
import type { McpBackend } from './backend.ts';
import { guideErrors } from './guidance.ts';
import { guideMessages } from './guided-messages.ts';
import { instructionsFor } from './instructions.ts';
import type { McpServerOptions } from './options.ts';
import { registerPrompts } from './prompts.ts';
import { registerResources } from './resources.ts';
import { registerTools } from './tools.ts';

/** Whom an answer may be kept for, and how long: what is listed is the same for everybody, and changes with a release or once a day. */
const LISTED = { ttlMs: 300_000, cacheScope: 'public' } as const;

const FIXED = { listChanged: false } as const;

/** A server for one connection, or one request: tools, resources and prompts over whatever stands behind `backend`. */
export function buildMcpServer(backend: McpBackend, options: McpServerOptions): McpServer {
  const { version, publicUrl } = options;
  const server = new McpServer(
    { name: IDENTITY.slug, title: IDENTITY.name, version, websiteUrl: publicUrl },
    {
      ...options.fixtures?.options,
      instructions: instructionsFor(options),
      cacheHints: { 'tools/list': LISTED, 'prompts/list': LISTED, 'resources/templates/list': LISTED, 'resources/list': LISTED },
    },
  );
  guideErrors(server, options);
  guideMessages(server);
  // Nothing that is listed changes while anybody is connected.
  server.server.registerCapabilities({ tools: FIXED, resources: FIXED, prompts: FIXED });
  registerTools(server, backend, options);
  registerResources(server, backend);
  registerPrompts(server, backend);
  options.fixtures?.register(server);
  return server;
}
