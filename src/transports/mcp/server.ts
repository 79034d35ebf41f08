import { McpServer } from '@modelcontextprotocol/server';
import { IDENTITY } from '../../../agent-card/identity.ts';
import type { McpBackend } from './backends/backend.ts';
import { wrapHandlerErrors } from './errors/handler-errors.ts';
import { wrapConnect } from './errors/transport-errors.ts';
import { formatInstructions } from './instructions.ts';
import type { McpServerOptions } from './options.ts';
import { registerPrompts } from './prompts.ts';
import { registerResources } from './resources.ts';
import { registerTools } from './tools/tools.ts';

/** Whom an answer may be kept for, and how long: what is listed is the same for everybody, and changes with a release or once a day. */
const LIST_CACHE = { ttlMs: 300_000, cacheScope: 'public' } as const;

const STATIC_LIST = { listChanged: false } as const;

/** A server for one connection, or one request: tools, resources and prompts over whatever stands behind `backend`. */
export function buildMcpServer(backend: McpBackend, options: McpServerOptions): McpServer {
  const { version, publicUrl } = options;
  const server = new McpServer(
    { name: IDENTITY.slug, title: IDENTITY.name, version, websiteUrl: publicUrl },
    {
      ...options.fixtures?.options,
      instructions: formatInstructions(options),
      cacheHints: {
        'tools/list': LIST_CACHE,
        'prompts/list': LIST_CACHE,
        'resources/templates/list': LIST_CACHE,
        'resources/list': LIST_CACHE,
      },
    },
  );
  wrapHandlerErrors(server, options);
  wrapConnect(server);
  // Nothing that is listed changes while anybody is connected.
  server.server.registerCapabilities({ tools: STATIC_LIST, resources: STATIC_LIST, prompts: STATIC_LIST });
  registerTools(server, backend, options);
  registerResources(server, backend);
  registerPrompts(server, backend);
  options.fixtures?.register(server);
  return server;
}
