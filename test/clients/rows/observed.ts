import type { Bought, InterfaceName } from '../../../examples/clients/catalog.ts';
import { findMember, parseBody } from '../wire/payments.ts';
import { payAnotherTask, resend } from './replays.ts';
import type { Row } from './row.ts';

export type Observed = Pick<Row, 'readDocument' | 'replay'> & { toAnswer?(body: Bought['answer']): Bought['answer'] };

const PAID_HTTP: Observed = { readDocument: ({ responseBody }) => parseBody(responseBody), replay: resend };

/** What differs between interfaces once a client has sent its payment. */
export const OBSERVED: Record<InterfaceName, Observed> = {
  premium: PAID_HTTP,
  signal: PAID_HTTP,
  skill: { ...PAID_HTTP, toAnswer: unwrapOutput },
  mcp: {
    readDocument: ({ responseBody }) => findMember(parseBody(responseBody), 'structuredContent'),
    replay: resend,
  },
  a2a: {
    readDocument: ({ responseBody }) => findMember(findMember(parseBody(responseBody), 'artifacts'), 'data'),
    replay: payAnotherTask,
  },
};

/** The receipt of a skill is for its output. */
function unwrapOutput({ output, payment, receipt }: Bought['answer']): Bought['answer'] {
  return { ...(output as Bought['answer']), payment, receipt };
}
