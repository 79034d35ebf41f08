import type { Check } from './check.ts';
import { backupCheck } from './checks/backup.ts';
import { contractsCheck } from './checks/chain/contracts.ts';
import { identityCheck } from './checks/chain/identity.ts';
import { rpcCheck } from './checks/chain/rpc.ts';
import { walletsCheck } from './checks/chain/wallets.ts';
import { clockCheck } from './checks/clock.ts';
import { databaseCheck } from './checks/database.ts';
import { calendarsCheck } from './checks/network/calendars.ts';
import { facilitatorCheck } from './checks/network/facilitator.ts';
import { feedsCheck } from './checks/network/feeds.ts';
import { publicUrlCheck } from './checks/network/public-url.ts';
import { webhooksCheck } from './checks/network/webhooks.ts';
import { settingsCheck } from './checks/settings.ts';

/** In the order of the report. A further check is one file and one line. */
export const CHECKS: readonly Check[] = [
  settingsCheck,
  walletsCheck,
  rpcCheck,
  contractsCheck,
  identityCheck,
  databaseCheck,
  clockCheck,
  feedsCheck,
  publicUrlCheck,
  facilitatorCheck,
  webhooksCheck,
  calendarsCheck,
  backupCheck,
];
