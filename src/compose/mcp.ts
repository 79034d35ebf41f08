import { methodologyMarkdown } from '../../agent-card/methodology.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { PaidCalls } from '../../skills/paid-call.ts';
import type { SkillParts } from '../../skills/parts.ts';
import type { CarryOut } from '../../skills/runner.ts';
import type { Door } from '../access/door.ts';
import { messageOf } from '../errors.ts';
import { createMcpDoor } from '../mcp/door.ts';
import { createMcpFixtures } from '../mcp/fixtures.ts';
import { localBackend } from '../mcp/local-backend.ts';
import { createOriginCheck } from '../mcp/origins.ts';
import type { Frame } from './frame.ts';

/** The longest trace that a log line has. */
const TRACE_CHARS = 2_000;

/** A reason may have words of the caller. */
const REASON_CHARS = 200;

/** What the tools do. */
interface Skills {
  carryOut: CarryOut;
  paidCalls: PaidCalls;
}

/** MCP at the socket of HTTP. */
export function composeMcp({ config, log, shutdown }: Frame, parts: SkillParts, skills: Skills): Door {
  const { publicUrl } = parts;
  const methodology = methodologyMarkdown({ publicUrl });
  const door = createMcpDoor({
    version: packageJson.version,
    publicUrl,
    sells: true,
    ...(config.PROTOCOL_FIXTURES === 'on' ? { fixtures: createMcpFixtures() } : {}),
    backendFor: (asker) => localBackend({ signals: parts, ...skills, methodology }, asker),
    checkOrigin: createOriginCheck({ publicUrl, allowedOrigins: config.MCP_ALLOWED_ORIGINS ?? [], loopback: config.chainMode !== 'real' }),
    onRefused: ({ message }) => log.info({ reason: message.slice(0, REASON_CHARS) }, 'an MCP request was refused'),
    onError: (error, requestId) => log.error({ requestId, err: traceOf(error) }, 'an MCP request failed'),
  });
  shutdown.onStop('MCP streams', () => door.close());
  return door;
}

function traceOf(error: unknown): string {
  return (error instanceof Error ? (error.stack ?? error.message) : messageOf(error)).slice(0, TRACE_CHARS);
}
