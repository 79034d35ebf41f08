import { createCalendarClient } from '../../../src/pipeline/timestamps/calendar-client.ts';
import { stampDays } from '../../../src/pipeline/timestamps/stamp-days.ts';
import type { TestService } from '../service/service.ts';
import { startCalendar } from './calendar.ts';

/** Stamps the days of a service, whose outcomes are ahead, at a calendar that ends then: their proofs stay pending. */
export async function stampService({ http, log }: TestService): Promise<void> {
  const calendar = await startCalendar();
  const { record, timestamps, chainId, addresses, attesterAddress: attester, now } = http;
  const chain = { chainId, eas: addresses.eas, attester };
  await stampDays({ record, timestamps, calendars: [calendar.url], client: createCalendarClient(), chain, log, now });
  await calendar.close();
}
