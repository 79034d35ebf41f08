import { type McpServer, PROTOCOL_VERSION_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { SKILLS } from '../../skills/index.ts';
import { priceOf, type Skill } from '../../skills/skill.ts';
import { isOracleError } from '../errors.ts';
import type { McpBackend, SentPayment } from './backend.ts';
import { META } from './keys.ts';
import { listedInput, listedOutput } from './listed-schema.ts';
import type { McpServerOptions } from './options.ts';
import { failureOf, resultOf } from './tool-result.ts';

/** One tool for each skill, in their order. */
export function registerTools(server: McpServer, backend: McpBackend, options: McpServerOptions): void {
  for (const skill of SKILLS) {
    server.registerTool(skill.id, declarationOf(skill), async (input, context) => {
      try {
        return resultOf(await backend.run(skill.id, input, sentWith(context)));
      } catch (error) {
        if (!isOracleError(error)) options.onError?.(error);
        return failureOf(error, { ...options, isOfNewest: isOfNewest(context) });
      }
    });
  }
}

function sentWith({ mcpReq }: ServerContext): SentPayment {
  const { [META.payment]: payment, [META.ref]: ref } = mcpReq._meta ?? {};
  return { payment, ref };
}

/** Requests of 2026-07-28 and later name their revision themselves. */
function isOfNewest({ mcpReq }: ServerContext): boolean {
  return mcpReq.envelope !== undefined && PROTOCOL_VERSION_META_KEY in mcpReq.envelope;
}

function declarationOf(skill: Skill) {
  const { title, input, output, cost, tier, freshness } = skill;
  return {
    title,
    description: `${skill.description}\n\n${termsOf(skill)}`,
    inputSchema: listedInput(input),
    outputSchema: listedOutput(output),
    // What is asked of the chain lies outside this service.
    annotations: { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: cost === 'rpc' },
    _meta: { [META.terms]: { tier, price: priceOf(skill), freshness, asksChain: cost === 'rpc' } },
  };
}

/** Who may call a tool, for what, and how fresh its answers are. */
function termsOf(skill: Skill): string {
  const who = skill.tier === 'public' ? 'For everybody' : `Needs an access token of the ${skill.tier} tier`;
  return `${who}; ${priceOf(skill)}. Freshness: ${skill.freshness.description}.`;
}
