import { McpServer } from '@modelcontextprotocol/server';
import { IDENTITY } from '../../../agent-card/identity.ts';
import { APP_EXTENSION, registerApps } from './apps/register-apps.ts';
import type { McpBackend } from './backends/backend.ts';
import { formatInstructions } from './instructions.ts';
import type { McpServerOptions } from './options.ts';
import { registerPrompts } from './prompts.ts';
import { registerResources } from './resources.ts';
import { createErrorGuard } from './rpc-error.ts';
import { registerTools } from './tools/register-tools.ts';

/** Lists are the same for every caller, and change with a release or once a day. */
const LIST_CACHE = { ttlMs: 300_000, cacheScope: 'public' } as const;

const STATIC_LIST = { listChanged: false } as const;

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
  // Lists do not change while a client is connected.
  server.server.registerCapabilities({ tools: STATIC_LIST, resources: STATIC_LIST, prompts: STATIC_LIST });
  const guard = createErrorGuard(options.onError);
  registerTools(server, backend, options);
  registerResources(server, backend, guard, options);
  if (options.apps !== undefined) {
    server.server.registerCapabilities({ extensions: { [APP_EXTENSION]: {} } });
    registerApps(server, options.apps);
  }
  registerPrompts(server, backend, guard);
  options.fixtures?.register(server);
  return server;
}
