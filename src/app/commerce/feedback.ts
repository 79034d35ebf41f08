import type { Chain } from '../../chain/client.ts';
import { findRegistrationBlock } from '../../chain/erc8004/identity.ts';
import { readConfirmedBlockNumber } from '../../chain/rpc/block-depth.ts';
import { type ClientFeedback, createClientFeedback } from '../../commerce/feedback/client-feedback.ts';
import { ClientFeedbackStore } from '../../commerce/feedback/client-feedback-store.ts';
import { buildAgentKey } from '../../commerce/feedback/feedback-doc.ts';
import type { Ledger } from '../../commerce/ledger/ledger.ts';
import type { ServiceCore } from '../core.ts';

/** About 30 days on Base. */
const LOOK_BACK_BLOCKS = 1_296_000;

export function composeClientFeedback(
  core: Pick<ServiceCore, 'agentId' | 'chain' | 'db' | 'journal' | 'wallets'>,
  ledger: Ledger,
): ClientFeedback {
  const { agentId, chain, db, journal, wallets } = core;
  return createClientFeedback({
    chain,
    agentId,
    agent: buildAgentKey(chain, agentId),
    reporter: wallets.reporter.address,
    store: new ClientFeedbackStore(db),
    ledger,
    findFirstBlock: async () => (await findRegistrationBlock(chain, journal)) ?? lookBack(chain),
  });
}

/** For an agent that another wallet or database registered. */
async function lookBack(chain: Chain): Promise<number> {
  return Math.max(0, Number(await readConfirmedBlockNumber(chain)) - LOOK_BACK_BLOCKS);
}
