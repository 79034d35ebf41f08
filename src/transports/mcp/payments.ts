import type { Skill } from '../../../skills/skill.ts';
import { formatMoney } from '../../commerce/money.ts';
import { OracleError } from '../../platform/errors.ts';
import { META_KEYS } from './meta-keys.ts';

/**
 * `call`: single answers are paid for with the call. `elsewhere`: over HTTP only, as this connection carries no payment. `off`: nothing over
 * MCP names or takes payments (setting `MCP_PAYMENTS`).
 */
export type McpPayments = 'call' | 'elsewhere' | 'off';

/** Argument by which a client asks for payment requirements in place of the public part of an answer. */
export const ACCESS_ARGUMENT = 'access';

export const PAY = 'pay';

/** Identifier of x402 among the extensions in a client's capabilities (x402, specs/transports-v2/mcp.md). */
const X402_EXTENSION = 'org.x402/payment';

/** Price of a single answer, e.g. `0.001 USD`; null where none is sold. */
export function formatSinglePrice({ offering }: Pick<Skill, 'offering'>): string | null {
  return offering === null ? null : formatMoney(offering.price);
}

/** Whether the tool has the argument `access`. */
export function isPayable({ tier, offering }: Skill, payments: McpPayments): boolean {
  return payments === 'call' && tier !== 'public' && offering !== null;
}

export function declaresX402(capabilities: unknown): boolean {
  const { extensions } = (capabilities ?? {}) as { extensions?: Record<string, unknown> };
  return typeof extensions === 'object' && extensions !== null && X402_EXTENSION in extensions;
}

/** A payment that nothing here takes is rejected, so that its client does not take the answer for a paid one. */
export function requireNoPayment(payment: unknown): void {
  if (payment === undefined || payment === null) return;
  const suggestedAction = `Call without _meta["${META_KEYS.payment}"]: nothing was charged.`;
  throw new OracleError('NOT_IMPLEMENTED', 'This connection takes no payment', { field: META_KEYS.payment, suggestedAction });
}
