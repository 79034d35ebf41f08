import { renderMethodology } from '../../../agent-card/documents/methodology.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import type { SkillDeps } from '../../../skills/deps.ts';
import type { PaidCalls } from '../../../skills/paid-call.ts';
import type { RunSkill } from '../../../skills/runner.ts';
import { getErrorMessage } from '../../platform/errors.ts';
import type { ProtocolAdapter } from '../../transports/adapter.ts';
import { createMcpAdapter } from '../../transports/mcp/adapter.ts';
import { createLocalBackend } from '../../transports/mcp/backends/local.ts';
import { createMcpFixtures } from '../../transports/mcp/fixtures/fixtures.ts';
import { createOriginCheck } from '../../transports/mcp/validation/origins.ts';
import type { ProcessContext } from '../process-context.ts';

/** The longest trace that a log line has. */
const TRACE_CHARS = 2_000;

/** A reason may have words of the caller. */
const REASON_CHARS = 200;

/** What the tools do. */
interface SkillRunners {
  runSkill: RunSkill;
  paidCalls: PaidCalls;
}

/** MCP at the socket of HTTP. */
export function composeMcp({ config, log, shutdown }: ProcessContext, deps: SkillDeps, skills: SkillRunners): ProtocolAdapter {
  const { publicUrl } = deps;
  const methodology = renderMethodology({ publicUrl });
  const adapter = createMcpAdapter({
    version: packageJson.version,
    publicUrl,
    sells: true,
    ...(config.PROTOCOL_FIXTURES === 'on' ? { fixtures: createMcpFixtures() } : {}),
    backendFor: (context) => createLocalBackend({ signals: deps, ...skills, methodology }, context),
    checkOrigin: createOriginCheck({
      publicUrl,
      allowedOrigins: config.MCP_ALLOWED_ORIGINS ?? [],
      allowLoopback: config.chainMode !== 'real',
    }),
    onRejected: ({ message }) => log.info({ reason: message.slice(0, REASON_CHARS) }, 'an MCP request was refused'),
    onError: (error, requestId) => log.error({ requestId, err: formatTrace(error) }, 'an MCP request failed'),
  });
  shutdown.onStop('MCP streams', () => adapter.close());
  return adapter;
}

function formatTrace(error: unknown): string {
  return (error instanceof Error ? (error.stack ?? error.message) : getErrorMessage(error)).slice(0, TRACE_CHARS);
}
