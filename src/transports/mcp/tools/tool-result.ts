import type { CallToolResult } from '@modelcontextprotocol/server';
import { toOutline } from '../../../../skills/outlines/outline.ts';
import type { SoldAnswer } from '../../../../skills/paid-call.ts';
import type { SkillAnswer } from '../../../../skills/runner.ts';
import type { Skill } from '../../../../skills/skill.ts';
import { PaymentRequiredError } from '../../../commerce/x402/protocol/payment-quote.ts';
import { toFailedSettlementResponse, toSaleResponse, toSettlementResponse } from '../../../commerce/x402/protocol/settlement-response.ts';
import { type ClientError, toClientError } from '../../../platform/errors.ts';
import { toPaymentRequired } from '../backends/payable-error.ts';
import { formatPaymentAdvice, formatTokenAdvice, type TokenAdviceOptions } from '../instructions.ts';
import { META_KEYS } from '../meta-keys.ts';
import type { Detail } from './tool-input.ts';

interface ToolErrorOptions extends TokenAdviceOptions {
  /** Revision 2026-07-28 or later. */
  isCurrentRevision?: boolean;
}

/** An answer in all its forms; `detail` chooses. */
export interface ToolAnswer {
  output: Record<string, unknown>;
  /** The short form of `output`. */
  outline: Record<string, unknown>;
  /** The verdict. */
  text: string;
  /** Further lines of a summary. */
  rows: string | null;
  sale?: Pick<SoldAnswer, 'payment' | 'receipt' | 'x402Receipt'>;
}

/** What was sold is delivered whole, because the receipt is for its hash. */
export function toToolAnswer(skill: Skill, answer: SkillAnswer | SoldAnswer): ToolAnswer {
  const { output, text } = answer;
  const rows = skill.formatRows?.(output) ?? null;
  if (!('receipt' in answer)) return { output, outline: toOutline(skill.outline, output), text, rows };
  const { payment, receipt, x402Receipt } = answer;
  return { output, outline: output, text, rows, sale: { payment, receipt, x402Receipt } };
}

/** The verdict first. A full answer repeats its data as JSON text for clients that ignore `structuredContent`. Paid ones carry their receipt. */
export function toToolResult({ output, outline, text, rows, sale }: ToolAnswer, detail: Detail): CallToolResult {
  const more = detail === 'full' ? JSON.stringify(output) : rows;
  return {
    content: [text, ...(more === null ? [] : [more])].map((one) => ({ type: 'text', text: one })),
    structuredContent: detail === 'full' ? output : outline,
    ...(sale === undefined ? {} : { _meta: buildPaymentMeta(sale) }),
  };
}

function buildPaymentMeta(sale: NonNullable<ToolAnswer['sale']>) {
  const { payment, receipt } = sale;
  const network = `eip155:${receipt.domain.chainId}`;
  return { [META_KEYS.paymentResponse]: toSettlementResponse(sale, network), [META_KEYS.receipt]: toSaleResponse({ payment, receipt }) };
}

/**
 * Error as text for models and as data for programs. x402 clients expect payment requirements in the first content item and in
 * `structuredContent`; clients of older revisions validate the latter against the output schema, so they do not get it.
 */
export function toToolError(error: unknown, options: ToolErrorOptions): CallToolResult {
  const required = toPaymentRequired(error);
  const clientError = addTokenAdvice(toClientError(error), { ...options, isPayable: required !== undefined });
  const text = { type: 'text', text: formatToolError(clientError) } as const;
  const failure = { isError: true, _meta: { [META_KEYS.error]: clientError, ...buildUnsettledMeta(error) } };
  if (required === undefined) return { ...failure, content: [text] };
  const content = [{ type: 'text', text: JSON.stringify(required) } as const, text];
  return { ...failure, content, ...(options.isCurrentRevision === true ? { structuredContent: { ...required } } : {}) };
}

/** For a payment that was verified but not settled. */
function buildUnsettledMeta(error: unknown): Record<string, unknown> {
  if (!(error instanceof PaymentRequiredError) || error.unsettledOf === undefined) return {};
  const { unsettledOf: payer, x402Code, quote } = error;
  return { [META_KEYS.paymentResponse]: toFailedSettlementResponse({ payer, x402Code }, quote.requirements.network) };
}

/** A caller without a token learns where to get one. */
function addTokenAdvice(clientError: ClientError, { isPayable, ...address }: ToolErrorOptions & { isPayable: boolean }): ClientError {
  const action = clientError.code === 'UNAUTHENTICATED' ? formatTokenAdvice(address) : clientError.suggestedAction;
  if (!isPayable) return { ...clientError, suggestedAction: action };
  const payment = clientError.code === 'PAYMENT_REQUIRED' ? formatPaymentAdvice() : `Or pay for this answer. ${formatPaymentAdvice()}`;
  return { ...clientError, suggestedAction: `${action} ${payment}` };
}

function formatToolError({ code, message, suggestedAction, field, retryable, retryAfterSeconds }: ClientError): string {
  const lines = [`${code}: ${message}`];
  if (field !== undefined) lines.push(`Field: ${field}`);
  lines.push(`What to do: ${suggestedAction}`);
  if (retryAfterSeconds !== undefined) lines.push(`Try again after ${retryAfterSeconds} seconds.`);
  else if (retryable) lines.push('The same call may succeed later.');
  return lines.join('\n');
}
