import { z } from 'zod';
import type { Skill } from '../../../../skills/skill.ts';
import { formatTierRequirement } from '../../../auth/tiers/tiers.ts';
import { joinUrl } from '../../../platform/service-url.ts';
import { formatTokenAdvice, type TokenAdviceOptions } from '../instructions.ts';
import type { McpServerOptions } from '../options.ts';
import { ACCESS_ARGUMENT, formatSinglePrice, PAY } from '../payments.ts';

export const ACCESS_WAYS = z
  .array(z.object({ way: z.string(), how: z.string() }))
  .describe('How to get what is hidden: each way is enough');

/** One way to an answer that the caller's tier excludes. */
interface AccessWay {
  way: string;
  how: string;
  /** The same as a clause of a sentence. */
  clause: string;
}

export type AccessOptions = TokenAdviceOptions & Pick<McpServerOptions, 'payments'>;

/** Constant for all forecasts that end at the same time. @param resolvesAt ISO 8601 */
export function listAccessWays(skill: Skill, options: AccessOptions, resolvesAt: string): AccessWay[] {
  const requirement = formatTierRequirement(skill.tier as Exclude<Skill['tier'], 'public'>);
  const signIn = {
    way: 'sign in',
    how: formatTokenAdvice(options),
    clause: `sign in with a wallet that holds ${requirement}`,
  };
  const day = resolvesAt.slice(0, 10);
  const wait = { way: 'wait', how: `It becomes public with its outcome, within hours after ${resolvesAt}.`, clause: `wait until ${day}` };
  return [signIn, ...listPayment(skill, options), wait];
}

function listPayment(skill: Skill, { payments, publicUrl }: AccessOptions): AccessWay[] {
  const price = formatSinglePrice(skill);
  if (payments === 'off' || price === null) return [];
  const where = skill.offering?.resource;
  const elsewhere = where ? ` at ${where.method} ${joinUrl(publicUrl, where.path)}` : '';
  const how =
    payments === 'call'
      ? `Call again with {"${ACCESS_ARGUMENT}":"${PAY}"} from an x402 client: the result has the payment requirements.`
      : `This connection carries no payment: buy a single answer by x402${elsewhere}.`;
  return [{ way: 'pay', how: `${price}. ${how}`, clause: `pay ${price} for this answer by x402` }];
}
