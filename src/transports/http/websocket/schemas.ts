import { z } from 'zod';
import { PUSHED_NAMES, type PushedName } from '../../../events/event-names.ts';
import { ONE_CHOICE } from '../../../events/horizon-choice.ts';
import { COUNT, SUCCESS, TIME } from '../../../platform/validation/fields.ts';
import { HORIZON_PARAMETERS } from '../server/parsing/horizon-parameters.ts';

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
  .regex(/^[\w.~+/-]+=*$/, 'has invalid characters')
  .max(2_048, 'is too long')
  .optional();

const eventId = z
  .string()
  .regex(/^(0|[1-9]\d{0,14})$/, 'must be an event id: a whole number from 0')
  .transform(Number)
  .optional();

/** Interface, section 6.1, has `token` only. */
export const HANDSHAKE_QUERY = z
  .object({
    token: CREDENTIAL.describe(
      'Access token of `POST /api/svc/oracle/verify`; alternatively `Authorization: Bearer <token>` or a `ticket`',
    ),
    ticket: CREDENTIAL.describe('Ticket of `POST /api/svc/ws/ticket`, for browsers, which cannot send the header'),
    events: listInput<PushedName>(PUSHED_NAMES).optional().describe('Event types, separated by commas; default: all'),
    ...HORIZON_PARAMETERS,
    sinceId: eventId.describe('Id of your last event: later ones are sent first. Default: only new events'),
    since: eventId.describe('Older name of `sinceId`: an id, while `since` of a webhook replay is a time'),
  })
  .refine(...ONE_CHOICE);

export const TICKET_REPLY = z.object({
  success: SUCCESS,
  ticket: z.string().describe('Opens one connection, with the rights of the requesting token'),
  expiresAt: TIME.describe('Valid until'),
  expires_in: COUNT.describe('Seconds until expiry'),
  url: z.url().describe('WebSocket URL with the ticket; `events`, `horizon`, `horizons` and `since` can be added'),
});
