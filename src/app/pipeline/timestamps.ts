import { createCalendarClient } from '../../pipeline/timestamps/calendar-client.ts';
import { stampDays } from '../../pipeline/timestamps/stamp-days.ts';
import type { ServiceCore } from '../core.ts';
import type { ProcessContext } from '../process-context.ts';

type StampingDeps = Pick<ServiceCore, 'chain' | 'record' | 'timestamps' | 'wallets' | 'now'>;

/** The sweep that stamps the commitments of days; null without calendars. */
export function composeStamping({ config, log }: ProcessContext, deps: StampingDeps): (() => Promise<void>) | null {
  const { OTS_CALENDARS: calendars } = config;
  if (calendars === undefined) return null;
  const { record, timestamps, wallets, now } = deps;
  const { chainId, addresses } = deps.chain;
  const chain = { chainId, eas: addresses.eas, attester: wallets.attester.address };
  return () => stampDays({ record, timestamps, calendars, client: createCalendarClient(), chain, log, now });
}
