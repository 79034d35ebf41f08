import { McpServer, ProtocolError, type ServerContext } from '@modelcontextprotocol/server';
import { IDENTITY } from '../../../agent-card/identity.ts';
import { APP_EXTENSION, registerApps } from './apps/register-apps.ts';
import type { McpBackend } from './backends/backend.ts';
import { formatInstructions } from './instructions.ts';
import type { AdmitMessage, McpServerOptions } from './options.ts';
import { registerPrompts } from './prompts.ts';
import { registerResources } from './resources.ts';
import { createErrorGuard, type ErrorGuard, malformedParameters } from './rpc-error.ts';
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
  rejectMalformedParameters(server);
  guardHandlers(server, guard, options.admit ?? ((_message, _signal, work) => work()));
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

type MessageHandler = (message: { params?: unknown }, context: ServerContext) => unknown;

interface WrappedHandlers {
  /** A hook of the SDK for its subclasses, around the validation of parameters and the handler. */
  _wrapHandler(method: string, handle: MessageHandler): MessageHandler;
  /** Those of the constructor are there already. */
  _requestHandlers: Map<string, MessageHandler>;
}

/** The SDK throws a plain error for parameters that its schema refuses, which it reports as an internal one. Handlers throw protocol errors. */
function rejectMalformedParameters(server: McpServer): void {
  const handlers = server.server as unknown as WrappedHandlers;
  const wrap = handlers._wrapHandler.bind(handlers);
  const reject =
    (method: string, handle: MessageHandler): MessageHandler =>
    async (message, context) => {
      try {
        return await handle(message, context);
      } catch (error) {
        throw error instanceof ProtocolError ? error : malformedParameters(method, error);
      }
    };
  handlers._wrapHandler = (method, handle) => wrap(method, reject(method, handle));
  for (const [method, handle] of handlers._requestHandlers) handlers._requestHandlers.set(method, reject(method, handle));
}

/** The work of a message is that of its handler: the SDK sends the head of an answer before it has run. */
function guardHandlers({ server }: McpServer, guard: ErrorGuard, admit: AdmitMessage): void {
  const setHandler = server.setRequestHandler.bind(server) as (...declaration: unknown[]) => void;
  const setAdmitted = (...declaration: unknown[]) => {
    const handle = declaration.at(-1) as MessageHandler;
    const handleAdmitted: MessageHandler = guard((message, context) =>
      admit(message, context.mcpReq.signal, async () => handle(message, context)),
    );
    setHandler(...declaration.slice(0, -1), handleAdmitted);
  };
  server.setRequestHandler = setAdmitted as typeof server.setRequestHandler;
  // Declared by the SDK before.
  server.setRequestHandler('ping', () => ({}));
}
