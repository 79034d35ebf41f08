import type { Db } from 'mongodb';
import { AuthService } from '../../../src/auth/auth.ts';
import type { Chain } from '../../../src/chain/client.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { createSecretBox } from '../../../src/platform/secrets.ts';
import { ForecastRecord } from '../../../src/record/forecasts.ts';
import { WagerBook } from '../../../src/wager/wagers.ts';

/** What all processes of a test of the push have in common beside their database. */
export const PUSH_WORLD = {
  encryptionSecret: 'e'.repeat(32),
  issuer: 'a test',
  view: { saltSecret: 'a master secret of a test', policy: 'resolution', publicUrl: 'http://127.0.0.1:3000', chainId: 31_337 },
} as const;

export const now = () => new Date();

export function booksOf(db: Db): { record: ForecastRecord; wagers: WagerBook } {
  return { record: new ForecastRecord({ db, saltSecret: PUSH_WORLD.view.saltSecret, horizons: HORIZONS }), wagers: new WagerBook(db) };
}

/** Sessions and tokens without a chain or logins; the balances of `openSession` are not read again. */
export function accessOf(db: Db): AuthService {
  const { encryptionSecret, issuer } = PUSH_WORLD;
  const siwe = { domain: '127.0.0.1', origin: 'http://127.0.0.1', chainId: 31_337 };
  return new AuthService({ ...{ db, issuer, siwe, now }, chain: {} as Chain, secretBox: createSecretBox(encryptionSecret) });
}
