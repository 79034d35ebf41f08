import type { Db } from 'mongodb';
import type { Chain } from '../../chain/client.ts';
import type { Commerce } from '../../commerce/commerce.ts';
import { composeDocument } from '../../commerce/documents/compose.ts';
import type { DocumentDeps } from '../../commerce/documents/deps.ts';
import { PurchaseService } from '../../commerce/purchases/purchase-service.ts';
import { PurchaseStore } from '../../commerce/purchases/purchase-store.ts';
import type { ProcessContext } from '../process-context.ts';

export interface ComposePurchasesDeps {
  db: Db;
  chain: Chain;
  commerce: Pick<Commerce, 'merchant' | 'ledger' | 'signReceipt' | 'requireOpen' | 'purchaseSignatures'>;
  /** What documents are made from. */
  answers: DocumentDeps;
  now(): Date;
}

/** What is bought by a transfer whose hash is shown. */
export function composePurchases(
  { log, shutdown }: Pick<ProcessContext, 'log' | 'shutdown'>,
  {
    db,
    chain,
    commerce: { merchant, ledger, signReceipt, requireOpen, purchaseSignatures: signatures },
    answers,
    now,
  }: ComposePurchasesDeps,
): PurchaseService {
  const { agentCommerce } = chain.addresses;
  return new PurchaseService({
    ...{ chain, merchant, ledger, signReceipt, requireOpen, log, now },
    store: new PurchaseStore(db),
    compose: (offering, at) => composeDocument(answers, 'purchase', offering, at),
    signatures,
    excludedBuyers: agentCommerce === null ? [] : [agentCommerce],
    signal: shutdown.signal,
  });
}
