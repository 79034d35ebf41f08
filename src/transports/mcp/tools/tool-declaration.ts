import { formatPrice, type Skill } from '../../../../skills/skill.ts';
import { buildViewMeta } from '../apps/register-apps.ts';
import { META_KEYS } from '../meta-keys.ts';
import type { McpServerOptions } from '../options.ts';
import type { McpPayments } from '../payments.ts';
import { toListedInput, toListedOutput } from './tool-schema.ts';

/** What `tools/list` has of a skill. */
export function declareTool(skill: Skill, { payments, apps }: Pick<McpServerOptions, 'payments' | 'apps'>) {
  const { title, cost, tier, freshness } = skill;
  const price = payments === 'off' ? {} : { price: formatPrice(skill) };
  return {
    title,
    description: `${skill.description}\n\n${formatTerms(skill, payments)}`,
    inputSchema: toListedInput(skill, payments),
    outputSchema: toListedOutput(skill),
    // The chain lies outside this service.
    annotations: { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: cost === 'rpc' },
    _meta: {
      [META_KEYS.terms]: { tier, ...price, freshness, asksChain: cost === 'rpc' },
      ...(apps === undefined ? {} : buildViewMeta(skill.id)),
    },
  };
}

function formatTerms(skill: Skill, payments: McpPayments): string {
  const access =
    skill.tier === 'public'
      ? 'Public'
      : `Whole with a token of the ${skill.tier} tier; without one, what is public and how to get the rest`;
  const price = payments === 'off' ? '' : `; ${formatPrice(skill)}`;
  return `${access}${price}. Freshness: ${skill.freshness.description}.`;
}
