import { requireFacilitatorSupport } from '../../../../commerce/x402/settlement/facilitator-support.ts';
import { createFacilitatorEndpoint } from '../../../commerce/facilitator.ts';
import type { Check } from '../../check.ts';
import { ok } from '../../finding.ts';

/** Who settles payments, whether it takes this chain, and whether it accepts the API key. */
export const facilitatorCheck: Check = {
  id: 'facilitator',
  title: 'Facilitator',
  needs: ['X402_FACILITATOR_URL', 'CDP_API_KEY_ID', 'CDP_API_KEY_SECRET', 'CHAIN_ID'],
  needsTarget: false,
  async run({ config, now }) {
    const endpoint = createFacilitatorEndpoint(config, now);
    if (endpoint === null) return [ok('the service settles payments itself')];
    await requireFacilitatorSupport(endpoint, config.CHAIN_ID);
    const key = endpoint.authorize === undefined ? '' : ', and accepts the API key';
    return [ok(`${endpoint.url} settles "exact" on eip155:${config.CHAIN_ID}${key}`)];
  },
};
