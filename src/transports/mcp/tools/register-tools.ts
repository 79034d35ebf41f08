import { type McpServer, PROTOCOL_VERSION_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { SKILLS } from '../../../../skills/index.ts';
import { formatPrice, type Skill } from '../../../../skills/skill.ts';
import { isOracleError } from '../../../platform/errors.ts';
import { buildViewMeta } from '../apps/register-apps.ts';
import type { CallPayment, McpBackend } from '../backends/backend.ts';
import { inMessageTrace } from '../message-trace.ts';
import { META_KEYS } from '../meta-keys.ts';
import type { McpServerOptions } from '../options.ts';
import { toToolError, toToolResult } from './tool-result.ts';
import { toListedInput, toListedOutput } from './tool-schema.ts';

export function registerTools(server: McpServer, backend: McpBackend, options: McpServerOptions): void {
  for (const skill of SKILLS) {
    server.registerTool(skill.id, toToolDeclaration(skill, options), async (input, context) => {
      const call = () => backend.run(skill.id, input, getCallPayment(context));
      try {
        return toToolResult(await inMessageTrace(`tools/call ${skill.id}`, context, call));
      } catch (error) {
        if (!isOracleError(error)) options.onError?.(error);
        return toToolError(error, { ...options, isCurrentRevision: isCurrentRevision(context) });
      }
    });
  }
}

function getCallPayment({ mcpReq }: ServerContext): CallPayment {
  const { [META_KEYS.payment]: payment, [META_KEYS.ref]: ref } = mcpReq._meta ?? {};
  return { payment, ref };
}

/** Revision 2026-07-28 and later carry the protocol version in each request. */
function isCurrentRevision({ mcpReq }: ServerContext): boolean {
  return mcpReq.envelope !== undefined && PROTOCOL_VERSION_META_KEY in mcpReq.envelope;
}

function toToolDeclaration(skill: Skill, { apps }: McpServerOptions) {
  const { title, input, output, cost, tier, freshness } = skill;
  return {
    title,
    description: `${skill.description}\n\n${formatTerms(skill)}`,
    inputSchema: toListedInput(input),
    outputSchema: toListedOutput(output),
    // The chain lies outside this service.
    annotations: { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: cost === 'rpc' },
    _meta: {
      [META_KEYS.terms]: { tier, price: formatPrice(skill), freshness, asksChain: cost === 'rpc' },
      ...(apps === undefined ? {} : buildViewMeta(skill.id)),
    },
  };
}

function formatTerms(skill: Skill): string {
  const access = skill.tier === 'public' ? 'Public' : `Needs an access token of the ${skill.tier} tier`;
  return `${access}; ${formatPrice(skill)}. Freshness: ${skill.freshness.description}.`;
}
