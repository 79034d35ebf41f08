import { z } from 'zod';
import { parseJsonOrNull } from '../../platform/validation/parse-json.ts';
import { REF_CODE_PATTERN, REF_CODE_RULE } from '../ledger/ref-code.ts';
import { findOffering, OFFERINGS, type Offering } from '../price-list.ts';

export interface JobOrder {
  offering: Offering;
  /** Referral code in lower case. */
  ref: string | null;
}

export const MAX_DESCRIPTION_BYTES = 1_024;

const JOB_OFFERING_NAMES = OFFERINGS.filter(({ channel }) => channel === 'agent-commerce').map(({ name }) => name);

const DESCRIPTION = z.strictObject({
  offering: z.string(),
  // The only horizon sold; accepted explicitly, so that a client cannot pay for another one.
  horizon: z.literal(['7d', '7', 7]).optional(),
  ref: z.string().regex(REF_CODE_PATTERN).optional(),
});

const DESCRIPTION_FORMAT = '{"offering":"svc_bitcoin_signal"}, or only the name of the offering';

/** Parses a job description, or returns the reason as a sentence. Never quotes the description. */
export function parseJobDescription(text: string): JobOrder | { refused: string } {
  if (Buffer.byteLength(text) > MAX_DESCRIPTION_BYTES) return { refused: `The description has more than ${MAX_DESCRIPTION_BYTES} bytes.` };
  const bare = text.trim();
  const parsed = DESCRIPTION.safeParse(JOB_OFFERING_NAMES.includes(bare) ? { offering: bare } : parseJsonOrNull(bare));
  if (!parsed.success) return { refused: formatDescriptionProblem(parsed.error) };
  const offering = findOffering('agent-commerce', parsed.data.offering);
  if (offering === null) return { refused: `No such offering: the description may name ${JOB_OFFERING_NAMES.join(', ')}.` };
  return { offering, ref: parsed.data.ref?.toLowerCase() ?? null };
}

function formatDescriptionProblem({ issues }: z.ZodError): string {
  const [{ path }] = issues;
  if (path[0] === 'horizon') return 'Only the forecast of 7 days is sold: horizon must be "7d", or left out.';
  if (path[0] === 'ref') return `The ref code must have ${REF_CODE_RULE}.`;
  return `The description must be ${DESCRIPTION_FORMAT}; beside offering it may have horizon and ref.`;
}
