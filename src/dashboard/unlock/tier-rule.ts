import { createBuyButton } from '../buy/buy-button.ts';
import { formatChain, renderAddress } from '../buy/terms-view.ts';
import { h } from '../lib/dom.ts';
import { formatTier } from '../lib/format-text.ts';
import type { ApiResponses } from '../state/responses.ts';

/** Which token is needed, how much of it, where the rule is written, and how to read a call without it. */
export function renderTierRule({ tiers, contracts, chain }: ApiResponses['info']) {
  const needed = tiers.filter(({ gateTokens }) => gateTokens !== null);
  return [
    h('p', {}, [
      'Gate token ',
      renderAddress(contracts.gateToken, chain),
      ` on ${formatChain(chain)}: `,
      needed.map(({ tier, requirement }) => `${formatTier(tier)} ${requirement.replace(' gate tokens', '')}`).join(', '),
      '. ',
      h('a', { href: 'docs#/access/getWalletTier' }, 'The rule'),
      '.',
    ]),
    h('p', {}, 'Without tokens: ', createBuyButton(), ' or ', h('a', { href: 'docs#/signal/buySignal' }, 'any x402 client'), '.'),
  ];
}
