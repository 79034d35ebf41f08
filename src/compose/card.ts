import type { Db } from 'mongodb';
import type { CardSource } from '../../agent-card/card.ts';
import { type CardDesk, createCardDesk } from '../../agent-card/signed-card.ts';
import { CardChanges } from '../access/card-changes.ts';
import { CardKeys } from '../access/card-keys.ts';
import { createSecretBox } from '../secret-box.ts';

export interface CardComposition {
  db: Db;
  encryptionSecret: string;
  source: CardSource;
  now(): Date;
}

/**
 * The agent card, signed.
 * @throws OracleError CONFIG_INVALID when the keys in the database were sealed under another secret.
 */
export async function composeCard({ db, encryptionSecret, source, now }: CardComposition): Promise<CardDesk> {
  const keys = new CardKeys({ db, secretBox: createSecretBox(encryptionSecret), now });
  const desk = createCardDesk({ source, keys, changes: new CardChanges({ db, now }), now });
  await desk.current();
  return desk;
}
