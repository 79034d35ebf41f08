import type { Db } from 'mongodb';
import type { CardSource } from '../../../agent-card/card/card.ts';
import { CardChangeStore } from '../../../agent-card/card/card-change-store.ts';
import { type CardService, createCardService } from '../../../agent-card/card/signed-card.ts';
import { CardKeyStore } from '../../auth/tokens/card-key-store.ts';
import { createSecretBox } from '../../platform/secrets/secret-box.ts';

export interface ComposeCardDeps {
  db: Db;
  encryptionSecret: string;
  source: CardSource;
  now(): Date;
}

/**
 * The agent card, signed.
 * @throws OracleError CONFIG_INVALID when the keys in the database were sealed under another secret.
 */
export async function composeCard({ db, encryptionSecret, source, now }: ComposeCardDeps): Promise<CardService> {
  const keys = new CardKeyStore({ db, secretBox: createSecretBox(encryptionSecret), now });
  const service = createCardService({ source, keys, changes: new CardChangeStore({ db, now }), now });
  await service.current();
  return service;
}
