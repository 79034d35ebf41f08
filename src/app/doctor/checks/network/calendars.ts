import { createCalendarClient } from '../../../../pipeline/timestamps/calendar-client.ts';
import { getErrorMessage } from '../../../../platform/errors.ts';
import type { Check } from '../../check.ts';
import { type Finding, ok, warn } from '../../finding.ts';

/** A commitment that no calendar has: nothing is submitted. */
const UNKNOWN_COMMITMENT = new Uint8Array(32);

/** Each calendar of independent timestamps asked once. */
export const calendarsCheck: Check = {
  id: 'calendars',
  title: 'Calendars',
  needs: ['OTS_CALENDARS'],
  needsTarget: false,
  async run({ config: { OTS_CALENDARS: calendars } }) {
    if (calendars === undefined) return [ok('OTS_CALENDARS is not set: no day is stamped')];
    return Promise.all(calendars.map(ask));
  },
};

async function ask(url: string): Promise<Finding> {
  try {
    await createCalendarClient().fetchAddition(url, UNKNOWN_COMMITMENT);
    return ok(`${url} answers`);
  } catch (error) {
    return warn(
      `${url}: ${getErrorMessage(error)}`,
      'Let HTTPS to it out, or set another one in OTS_CALENDARS. Forecasts do not wait for it.',
    );
  }
}
