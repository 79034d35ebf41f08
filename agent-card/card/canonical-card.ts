import { AgentCard } from '@a2a-js/sdk';
import canonicalize from 'canonicalize';

/**
 * The card in the canonical form of A2A 1.0, section 8.4.1, to the letter: its fields of 1.0 without `signatures`, as RFC 8785 JSON.
 * Fields at their default are left out, those that are required or set as optional stay, and so do empty messages, which the SDKs drop.
 * @param card whose required fields all have a value: an empty one would be missing here
 */
export function toCanonicalCard(card: Record<string, unknown>): string {
  const { signatures: _, ...fields } = AgentCard.toJSON(AgentCard.fromJSON(card)) as Record<string, unknown>;
  return canonicalize(fields) as string;
}
