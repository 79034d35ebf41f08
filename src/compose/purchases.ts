import type { Db } from 'mongodb';
import type { Chain } from '../chain/client.ts';
import type { Commerce } from '../commerce/commerce.ts';
import { composeDocument } from '../commerce/documents/compose.ts';
import type { DocumentParts } from '../commerce/documents/parts.ts';
import { Purchases } from '../commerce/purchases/purchases.ts';
import { PurchaseStore } from '../commerce/purchases/store.ts';
import type { Frame } from './frame.ts';

export interface PurchasesComposition {
  db: Db;
  chain: Chain;
  commerce: Pick<Commerce, 'till' | 'ledger' | 'signReceipt' | 'requireOpen' | 'purchaseSignatures'>;
  /** What documents are made from. */
  answers: DocumentParts;
  now(): Date;
}

/** What is bought by a transfer whose hash is shown. */
export function composePurchases(
  { log, shutdown }: Pick<Frame, 'log' | 'shutdown'>,
  { db, chain, commerce: { till, ledger, signReceipt, requireOpen, purchaseSignatures: signatures }, answers, now }: PurchasesComposition,
): Purchases {
  const { agentCommerce } = chain.addresses;
  return new Purchases({
    ...{ chain, till, ledger, signReceipt, requireOpen, log, now },
    store: new PurchaseStore(db),
    compose: (offering, at) => composeDocument(answers, 'purchase', offering, at),
    signatures,
    notBuyers: agentCommerce === null ? [] : [agentCommerce],
    signal: shutdown.signal,
  });
}
