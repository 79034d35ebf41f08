import type { Db } from 'mongodb';
import type { CardSource } from '../../agent-card/card.ts';
import { type CardDesk, createCardDesk } from '../../agent-card/signed-card.ts';
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
  const desk = createCardDesk({ source, keys: new CardKeys({ db, secretBox: createSecretBox(encryptionSecret), now }), now });
  await desk.current();
  return desk;
}
