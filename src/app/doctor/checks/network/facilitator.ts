import { requireFacilitatorSupport } from '../../../../commerce/x402/settlement/facilitator-support.ts';
import type { Check } from '../../check.ts';
import { ok } from '../../finding.ts';

/** Who settles payments, and whether it takes this chain. */
export const facilitatorCheck: Check = {
  id: 'facilitator',
  title: 'Facilitator',
  needs: ['X402_FACILITATOR_URL', 'CHAIN_ID'],
  needsTarget: false,
  async run({ config: { X402_FACILITATOR_URL: url, CHAIN_ID } }) {
    if (url === undefined) return [ok('the service settles payments itself')];
    await requireFacilitatorSupport(url, CHAIN_ID);
    return [ok(`${url} settles "exact" on eip155:${CHAIN_ID}`)];
  },
};
