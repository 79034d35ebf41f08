import { buildAgentCard } from '../../../agent-card/card/card.ts';
import type { CardSource } from '../../../agent-card/card/card-source.ts';
import { renderMethodology } from '../../../agent-card/documents/methodology.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import type { PaidCalls } from '../../../skills/paid-call.ts';
import type { RunSkill } from '../../../skills/runner.ts';
import type { SkillDeps } from '../../../skills/skill.ts';
import type { AuthService } from '../../auth/auth-service.ts';
import { MCP_PATHS } from '../../auth/oauth/resources.ts';
import { getErrorMessage } from '../../platform/errors.ts';
import { createResolver } from '../../platform/outbound/resolve.ts';
import { createSecretBox } from '../../platform/secrets/secret-box.ts';
import { joinUrl } from '../../platform/service-url.ts';
import { type A2a, createA2a } from '../../transports/a2a/a2a.ts';
import { isFixture, playFixture } from '../../transports/a2a/fixtures.ts';
import { createTaskPush } from '../../transports/a2a/push/task-push.ts';
import type { ProtocolAdapter } from '../../transports/adapter.ts';
import { createMcpAdapter } from '../../transports/mcp/adapter.ts';
import { readAppDocuments } from '../../transports/mcp/apps/app-documents.ts';
import { createMcpAuthorization } from '../../transports/mcp/authorization.ts';
import { createLocalBackend } from '../../transports/mcp/backends/local.ts';
import { createMcpFixtures } from '../../transports/mcp/fixtures/fixtures.ts';
import { createOriginCheck } from '../../transports/mcp/validation/origins.ts';
import type { ServiceCore } from '../core.ts';
import type { ProcessContext } from '../process-context.ts';

interface SkillRunners {
  runSkill: RunSkill;
  paidCalls: PaidCalls;
}

interface ComposeA2aDeps extends Pick<ServiceCore, 'db' | 'encryptionSecret' | 'now'>, SkillRunners {
  source: CardSource;
}

export function composeA2a({ config, log, shutdown }: ProcessContext, deps: ComposeA2aDeps): A2a {
  const { db, encryptionSecret, source, runSkill, paidCalls, now } = deps;
  const allowLocal = config.PUSH_LOCAL_TARGETS === 'allow';
  const push = createTaskPush({
    db,
    now,
    log,
    secretBox: createSecretBox(encryptionSecret),
    rules: { allowLocal, resolve: createResolver() },
    registering: { allowLocal, resolve: createResolver() },
    stopping: shutdown,
  });
  const fixtures = config.PROTOCOL_FIXTURES === 'on' ? { play: playFixture, isFixture } : undefined;
  const a2a = createA2a({ db, card: buildAgentCard(source), runSkill, paidCalls, push, fixtures, stopping: shutdown.signal, log, now });
  shutdown.onStop('tasks of agents', () => a2a.drain());
  return a2a;
}

const MAX_TRACE_CHARS = 2_000;
const MAX_REASON_CHARS = 200;

interface ComposeMcpDeps extends SkillDeps {
  access: Pick<AuthService, 'identify'>;
  /** Whether applications can get access by OAuth. */
  hasOAuth: boolean;
}

export function composeMcp(
  { config, log, shutdown }: ProcessContext,
  deps: ComposeMcpDeps,
  { runSkill, paidCalls }: SkillRunners,
): ProtocolAdapter {
  const { publicUrl, access, hasOAuth } = deps;
  const identify = (authorization: string | undefined) => access.identify(authorization, 'mcp');
  const methodology = renderMethodology({ publicUrl });
  const apps = readAppDocuments();
  if (apps === undefined) log.warn('the views of the MCP App have not been built; "npm run build:page" does');
  const adapter = createMcpAdapter({
    version: packageJson.version,
    publicUrl,
    payments: config.MCP_PAYMENTS === 'on' ? 'call' : 'off',
    ...(apps && { apps }),
    ...(hasOAuth
      ? { authorization: createMcpAuthorization({ publicUrl, identify }), accountUrl: joinUrl(publicUrl, MCP_PATHS.account) }
      : {}),
    ...(config.PROTOCOL_FIXTURES === 'on' ? { fixtures: createMcpFixtures() } : {}),
    backendFor: (context) =>
      createLocalBackend({ signals: deps, runSkill, ...(config.MCP_PAYMENTS === 'on' && { paidCalls }), methodology }, context),
    checkOrigin: createOriginCheck({
      publicUrl,
      allowedOrigins: config.MCP_ALLOWED_ORIGINS ?? [],
      allowLoopback: config.chainMode !== 'real',
    }),
    onRejected: ({ message }) => log.info({ reason: message.slice(0, MAX_REASON_CHARS) }, 'an MCP request was refused'),
    onError: (error, requestId) => log.error({ requestId, err: formatTrace(error) }, 'an MCP request failed'),
  });
  shutdown.onStop('MCP streams', () => adapter.close());
  return adapter;
}

function formatTrace(error: unknown): string {
  return (error instanceof Error ? (error.stack ?? error.message) : getErrorMessage(error)).slice(0, MAX_TRACE_CHARS);
}
