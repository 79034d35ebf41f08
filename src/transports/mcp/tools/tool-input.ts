import { z } from 'zod';
import { toSkillJsonSchema } from '../../../../skills/json-schema.ts';
import type { Skill } from '../../../../skills/skill.ts';
import { parseInput } from '../../../platform/validation/parse-input.ts';
import { ACCESS_ARGUMENT, isPayable, type McpPayments, PAY } from '../payments.ts';

export const DETAILS = ['summary', 'full'] as const;

export type Detail = (typeof DETAILS)[number];

/** Arguments of a tool besides the input of its skill: how it is answered, which the skill need not know. */
export interface ToolChoices {
  detail: Detail;
  /** The client pays: without a payment it wants the requirements. */
  pays: boolean;
}

const DETAIL = z
  .enum(DETAILS, { error: `must be one of ${DETAILS.join(', ')}` })
  .default('summary')
  .describe('summary: verdict and key figures; full: everything, for programs');

const ACCESS = z
  .literal(PAY, { error: `must be ${PAY}, or left out` })
  .optional()
  .describe('For x402 clients without access: payment requirements in place of what is public');

const choicesOf = (isSold: boolean) => z.object({ detail: DETAIL, ...(isSold && { [ACCESS_ARGUMENT]: ACCESS }) });
const CHOICES = { sold: choicesOf(true), free: choicesOf(false) };

/** @throws OracleError INPUT_INVALID naming `detail` or `access` */
export function splitToolInput(
  skill: Skill,
  payments: McpPayments,
  args: Record<string, unknown>,
): { input: Record<string, unknown>; choices: ToolChoices } {
  const schema = isPayable(skill, payments) ? CHOICES.sold : CHOICES.free;
  const isChoice = (name: string) => name in schema.shape;
  const pick = (wanted: boolean) => Object.fromEntries(Object.entries(args).filter(([name]) => isChoice(name) === wanted));
  const { detail, [ACCESS_ARGUMENT]: access } = parseInput(schema, pick(true), { kind: 'input', root: 'input' }) as Record<string, unknown>;
  return { input: pick(false), choices: { detail: detail as Detail, pays: access === PAY } };
}

/** JSON Schema of all arguments of a tool. */
export function buildToolInputSchema(skill: Skill, payments: McpPayments): Record<string, unknown> {
  const { properties, ...input } = toSkillJsonSchema(skill.input, 'input');
  const choices = toSkillJsonSchema(isPayable(skill, payments) ? CHOICES.sold : CHOICES.free, 'input');
  return { ...input, properties: { ...(properties as object), ...(choices.properties as object) } };
}
