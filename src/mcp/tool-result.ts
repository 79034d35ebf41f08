import type { CallToolResult } from '@modelcontextprotocol/server';
import type { SoldAnswer } from '../../skills/paid-call.ts';
import type { SkillAnswer } from '../../skills/runner.ts';
import { PaymentRequiredError } from '../commerce/x402/terms.ts';
import { refusedSettlement, settlementResponse, toldPurchase } from '../commerce/x402/told.ts';
import { type ToldError, toldError } from '../errors.ts';
import { howToGetToken, howToPay } from './instructions.ts';
import { META } from './keys.ts';
import type { McpServerOptions } from './options.ts';
import { requiredBy } from './payable-error.ts';

interface FailureOptions extends Pick<McpServerOptions, 'publicUrl' | 'howToSendToken'> {
  /** Whether the call is of revision 2026-07-28 or later. */
  isOfNewest?: boolean;
}

/** An answer: its sentences first, then the same as JSON for clients that read text only; one that was paid for with its receipt. */
export function resultOf(answer: SkillAnswer | SoldAnswer): CallToolResult {
  const { output, text } = answer;
  return {
    content: [
      { type: 'text', text },
      { type: 'text', text: JSON.stringify(output) },
    ],
    structuredContent: output,
    ...('receipt' in answer ? { _meta: paidWith(answer) } : {}),
  };
}

function paidWith({ payment, receipt }: SoldAnswer) {
  const network = `eip155:${receipt.domain.chainId}`;
  return { [META.paymentResponse]: settlementResponse(payment, network), [META.receipt]: toldPurchase({ payment, receipt }) };
}

/**
 * A failure in words that a model can act on, and as data for programs. Where it can be paid for, what has to be paid comes first,
 * as x402 clients look for it. `structuredContent` is theirs too, where clients do not hold that to the tool's output schema.
 */
export function failureOf(error: unknown, options: FailureOptions): CallToolResult {
  const required = requiredBy(error);
  const told = guided(toldError(error), { ...options, isPayable: required !== undefined });
  const words = { type: 'text', text: wordsOf(told) } as const;
  const failure = { isError: true, _meta: { [META.error]: told, ...unsettled(error) } };
  if (required === undefined) return { ...failure, content: [words] };
  const content = [{ type: 'text', text: JSON.stringify(required) } as const, words];
  return { ...failure, content, ...(options.isOfNewest === true ? { structuredContent: { ...required } } : {}) };
}

/** Of a payment that was found good, and then not settled. */
function unsettled(error: unknown): Record<string, unknown> {
  if (!(error instanceof PaymentRequiredError) || error.unsettledOf === undefined) return {};
  const { unsettledOf: payer, x402Code, terms } = error;
  return { [META.paymentResponse]: refusedSettlement({ payer, x402Code }, terms.requirements.network) };
}

/** Callers without a token do not know this service yet. */
function guided(told: ToldError, { isPayable, ...address }: FailureOptions & { isPayable: boolean }): ToldError {
  const action = told.code === 'UNAUTHENTICATED' ? howToGetToken(address) : told.suggestedAction;
  if (!isPayable) return { ...told, suggestedAction: action };
  const payment = told.code === 'PAYMENT_REQUIRED' ? howToPay() : `Or pay for this one answer. ${howToPay()}`;
  return { ...told, suggestedAction: `${action} ${payment}` };
}

function wordsOf({ code, message, suggestedAction, field, retryable, retryAfterSeconds }: ToldError): string {
  const lines = [`${code}: ${message}`];
  if (field !== undefined) lines.push(`Field: ${field}`);
  lines.push(`What to do: ${suggestedAction}`);
  if (retryAfterSeconds !== undefined) lines.push(`Try again after ${retryAfterSeconds} seconds.`);
  else if (retryable) lines.push('The same call may succeed later.');
  return lines.join('\n');
}
