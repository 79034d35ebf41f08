import { CLIENT_CAPABILITIES_META_KEY, type McpServer, PROTOCOL_VERSION_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { SKILLS } from '../../../../skills/index.ts';
import type { Skill } from '../../../../skills/skill.ts';
import { isOracleError } from '../../../platform/errors.ts';
import type { CallPayment, McpBackend } from '../backends/backend.ts';
import { isTierError, PayableError } from '../backends/payable-error.ts';
import { inMessageTrace } from '../message-trace.ts';
import { META_KEYS } from '../meta-keys.ts';
import type { McpServerOptions } from '../options.ts';
import { declaresX402, requireNoPayment } from '../payments.ts';
import { readGatedAnswer } from './gated-answer.ts';
import { declareTool } from './tool-declaration.ts';
import { splitToolInput } from './tool-input.ts';
import { type ToolAnswer, toToolAnswer, toToolError, toToolResult } from './tool-result.ts';

export function registerTools(server: McpServer, backend: McpBackend, options: McpServerOptions): void {
  for (const skill of SKILLS) {
    server.registerTool(skill.id, declareTool(skill, options), async (args, context) => {
      try {
        const { input, choices } = splitToolInput(skill, options.payments, args);
        const payment = getCallPayment(context, choices.pays);
        if (options.payments !== 'call') requireNoPayment(payment.payment);
        const call = () => answerCall({ skill, backend, input, payment }, options);
        return toToolResult(await inMessageTrace(`tools/call ${skill.id}`, context, call), choices.detail);
      } catch (error) {
        if (!isOracleError(error)) options.onError?.(error);
        return toToolError(error, { ...options, isCurrentRevision: isCurrentRevision(context) });
      }
    });
  }
}

interface ToolCall {
  skill: Skill;
  backend: McpBackend;
  input: Record<string, unknown>;
  payment: CallPayment;
}

/** A missing tier is answered, not rejected, except for clients that pay: x402 takes payment requirements from an error. */
async function answerCall({ skill, backend, input, payment }: ToolCall, options: McpServerOptions): Promise<ToolAnswer> {
  try {
    return toToolAnswer(skill, await backend.run(skill.id, input, payment));
  } catch (error) {
    if (!isTierError(error) || error instanceof PayableError) throw error;
    return readGatedAnswer({ skill, backend, input, rejection: error }, options);
  }
}

function getCallPayment({ mcpReq }: ServerContext, pays: boolean): CallPayment {
  const { [META_KEYS.payment]: payment, [META_KEYS.ref]: ref } = mcpReq._meta ?? {};
  const envelope: Record<string, unknown> = mcpReq.envelope ?? {};
  const wantsQuote = pays || declaresX402(envelope[CLIENT_CAPABILITIES_META_KEY]);
  return { payment, ref, wantsQuote };
}

/** Revision 2026-07-28 and later carry the protocol version in each request. */
function isCurrentRevision({ mcpReq }: ServerContext): boolean {
  return mcpReq.envelope !== undefined && PROTOCOL_VERSION_META_KEY in mcpReq.envelope;
}
