import type { CallToolResult } from '@modelcontextprotocol/server';
import type { SkillAnswer } from '../../skills/runner.ts';
import { type ToldError, toldError } from '../errors.ts';
import { howToGetToken } from './instructions.ts';
import { META } from './keys.ts';
import type { McpServerOptions } from './options.ts';

type Address = Pick<McpServerOptions, 'publicUrl' | 'howToSendToken'>;

/** An answer: its sentences first, then the same as JSON for clients that read text only. */
export function resultOf({ output, text }: SkillAnswer): CallToolResult {
  return {
    content: [
      { type: 'text', text },
      { type: 'text', text: JSON.stringify(output) },
    ],
    structuredContent: output,
  };
}

/** A failure in words that a model can act on, and as data for programs. Never `structuredContent`: that has the tool's output schema. */
export function failureOf(error: unknown, address: Address): CallToolResult {
  const told = guided(toldError(error), address);
  return { isError: true, content: [{ type: 'text', text: wordsOf(told) }], _meta: { [META.error]: told } };
}

/** Callers without a token do not know this service yet. */
function guided(told: ToldError, address: Address): ToldError {
  return told.code === 'UNAUTHENTICATED' ? { ...told, suggestedAction: howToGetToken(address) } : told;
}

function wordsOf({ code, message, suggestedAction, field, retryable, retryAfterSeconds }: ToldError): string {
  const lines = [`${code}: ${message}`];
  if (field !== undefined) lines.push(`Field: ${field}`);
  lines.push(`What to do: ${suggestedAction}`);
  if (retryAfterSeconds !== undefined) lines.push(`Try again after ${retryAfterSeconds} seconds.`);
  else if (retryable) lines.push('The same call may succeed later.');
  return lines.join('\n');
}
