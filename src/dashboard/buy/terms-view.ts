import { h, renderFacts } from '../lib/dom.ts';
import { shortenHex } from '../lib/format.ts';
import type { ApiResponses } from '../state/responses.ts';
import { renderExplorerLink } from './bought-call.ts';
import type { PaymentTerms } from './terms.ts';

const CHAIN_NAMES: Record<number, string> = { 8453: 'Base', 84532: 'Base Sepolia' };

type Chain = Pick<ApiResponses['info']['chain'], 'id' | 'local' | 'explorerUrl'>;

export function formatChain({ id, local }: Pick<Chain, 'id' | 'local'>) {
  return local ? 'local demo chain, money without value' : `${CHAIN_NAMES[id] ?? 'chain'} (${id})`;
}

export function renderAddress(address: string, { explorerUrl }: Pick<Chain, 'explorerUrl'>) {
  const text = shortenHex(address);
  return explorerUrl === null ? h('span', { title: address }, text) : renderExplorerLink(`${explorerUrl}/address/${address}`, text);
}

/** What is paid, to whom and under which rule, as the service's 402 states it. */
export function renderTerms({ accepted, resource, usd, freeHold }: PaymentTerms, chain: Chain) {
  const { extra, asset, payTo, maxTimeoutSeconds } = accepted;
  return [
    h('p', {}, resource.description),
    renderFacts([
      ['Price', h('strong', {}, `${usd} USD`)],
      ['In', h('span', {}, `${extra.name} `, renderAddress(asset, chain))],
      ['On', formatChain(chain)],
      ['To', renderAddress(payTo, chain)],
      ['Valid', `${Math.round(maxTimeoutSeconds / 60)} minutes after signing`],
      ['Not charged', freeHold ? 'a HOLD, or a failed request' : 'a failed request'],
    ]),
  ];
}
