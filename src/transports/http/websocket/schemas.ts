import { z } from 'zod';
import { PUSHED_NAMES, type PushedName } from '../../../events/event-names.ts';
import { ONE_CHOICE } from '../../../events/horizon-choice.ts';
import { COUNT, SUCCESS, TIME } from '../../../platform/validation/fields.ts';
import { HORIZON_PARAMETERS } from '../server/parsing/horizon-parameters.ts';

/** Names of a list, separated by commas. */
function listInput<Name extends string>(names: readonly Name[]) {
  const one = `(${names.map((name) => name.replaceAll('.', '\\.')).join('|')})`;
  return z
    .string()
    .regex(new RegExp(`^${one}(,${one}){0,19}$`), `must be one or more of ${names.join(', ')}, separated by commas`)
    .transform((text) => text.split(',') as Name[]);
}

/** RFC 6750, section 2.1. */
const CREDENTIAL = z
  .string()
  .regex(/^[\w.~+/-]+=*$/, 'has characters that none has')
  .max(2_048, 'is too long')
  .optional();

const eventId = z
  .string()
  .regex(/^(0|[1-9]\d{0,14})$/, 'must be the id of an event: a whole number from 0')
  .transform(Number)
  .optional();

/** What a handshake may ask for; interface, section 6.1: `token`. */
export const HANDSHAKE_QUERY = z
  .object({
    token: CREDENTIAL.describe(
      'Access token of `POST /api/svc/oracle/verify`; or it is sent as `Authorization: Bearer <token>`, or a `ticket` instead',
    ),
    ticket: CREDENTIAL.describe(
      'Ticket of `POST /api/svc/ws/ticket`: for browsers, which cannot send the header, and should not put a token into a URL',
    ),
    events: listInput<PushedName>(PUSHED_NAMES).optional().describe('Kinds of events, separated by commas; left out: all'),
    ...HORIZON_PARAMETERS,
    sinceId: eventId.describe(
      'Id of the last event that you have: what came after it is sent first. Left out: only what happens from now on',
    ),
    since: eventId.describe('The same as `sinceId`, under its older name: here it is an id, while `since` of a webhook replay is a time'),
  })
  .refine(...ONE_CHOICE);

/** `POST /api/svc/ws/ticket`. */
export const TICKET_REPLY = z.object({
  success: SUCCESS,
  ticket: z.string().describe('Opens one connection, with the rights of the token that it was asked for with'),
  expiresAt: TIME.describe('Until when it can be used'),
  expires_in: COUNT.describe('Seconds until then'),
  url: z.url().describe('Where to connect with it; `events`, `horizon`, `horizons` and `since` can be added'),
});
