import type { Bought, InterfaceName } from '../../../examples/clients/catalog.ts';
import { findMember, parseBody } from '../wire/payments.ts';
import { payAnotherTask, resend } from './replays.ts';
import type { Row } from './row.ts';

export type Observed = Pick<Row, 'hold' | 'readDocument' | 'replay'> & { toAnswer?(body: Bought['answer']): Bought['answer'] };

const PAID_HTTP: Observed = { hold: 'charged', readDocument: ({ responseBody }) => parseBody(responseBody), replay: resend };

/** What differs between interfaces once a client has sent its payment. */
export const OBSERVED: Record<InterfaceName, Observed> = {
  premium: PAID_HTTP,
  signal: { ...PAID_HTTP, hold: 'free' },
  skill: { ...PAID_HTTP, hold: 'free', toAnswer: unwrapOutput },
  mcp: {
    hold: 'charged',
    readDocument: ({ responseBody }) => findMember(parseBody(responseBody), 'structuredContent'),
    replay: resend,
  },
  a2a: {
    hold: 'charged',
    readDocument: ({ responseBody }) => findMember(findMember(parseBody(responseBody), 'artifacts'), 'data'),
    replay: payAnotherTask,
  },
};

/** The receipt of a skill is for its output. */
function unwrapOutput({ output, charged, payment, receipt }: Bought['answer']): Bought['answer'] {
  return { ...(output as Bought['answer']), ...(charged === true ? { payment, receipt } : { charged }) };
}
