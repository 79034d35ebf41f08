import type { Message, Part, Task } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { z } from 'zod';
import { EXTENSION_URIS } from '../../../../agent-card/card/extensions.ts';
import { SKILLS } from '../../../../skills/index.ts';
import { isForSale, PAYING_CALLER } from '../../../../skills/paid-call.ts';
import { findSkill, prepareCall, type SkillCall } from '../../../../skills/runner.ts';
import type { Caller } from '../../../auth/caller.ts';
import { type ClientError, isOracleError, OracleError, toClientError } from '../../../platform/errors.ts';
import { parseInput } from '../../../platform/validation/parse-input.ts';
import { parseJsonOrNull } from '../../../platform/validation/parse-json.ts';
import { getUser } from '../agent-user.ts';
import {
  findPayableCall,
  getPayment,
  isX402Activated,
  type MessagePayment,
  PAYMENT_METADATA,
  type PayableCall,
} from '../payments/metadata.ts';
import { getTaskSkill } from '../tasks/store.ts';
import { parseText } from './parse-text.ts';
import { dataPart, textPart } from './parts.ts';

/** What to do with a message; `note` says how a text was parsed. */
export type MessagePlan =
  | { do: 'call'; call: SkillCall; note?: string }
  /** Input is missing; `skill` is set if it is known. */
  | { do: 'ask'; skill?: string; parts: Part[] }
  /** The tier excludes the skill. */
  | { do: 'reject'; skill: string; error: ClientError; note?: string }
  /** The tier excludes the skill (`error`), and the call can be paid for. */
  | { do: 'bill'; call: SkillCall; error: ClientError; note?: string }
  | { do: 'sell'; call: SkillCall; payment: MessagePayment & { do: 'submit' }; note?: string }
  | { do: 'decline'; skill: string };

const CALL_INPUT = z.strictObject({ skill: z.string().optional(), input: z.record(z.string(), z.unknown()).optional() });

export interface PlanOptions {
  caller: Caller;
  /** Skill of earlier messages of the task. */
  skill?: string;
  payableCall?: PayableCall;
  payment?: MessagePayment;
  acceptsPaymentRequests?: boolean;
}

/** @param task undefined if the message opens one */
export function planMessage(message: Pick<Message, 'parts'>, task: Task | undefined, context: ServerCallContext): MessagePlan {
  return planParts(message, {
    caller: getUser(context).requestContext.caller,
    ...(task === undefined ? {} : { skill: getTaskSkill(task), payableCall: findPayableCall(task) }),
    payment: getPayment(context),
    acceptsPaymentRequests: isX402Activated(context),
  });
}

/** Undefined until the skill is known. */
export function getPlannedSkill(plan: MessagePlan): string | undefined {
  return 'call' in plan ? plan.call.skill.id : plan.skill;
}

/** Deterministic for message, caller and task. @throws OracleError INPUT_INVALID naming the part, `skill` or the field of the input */
export function planParts({ parts }: Pick<Message, 'parts'>, options: PlanOptions): MessagePlan {
  const { payableCall, payment } = options;
  if (payableCall !== undefined && payment?.do === 'decline') return { do: 'decline', skill: payableCall.skill };
  // Parts beside a payment are ignored.
  if (payableCall !== undefined && payment !== undefined) return planCall(payableCall.skill, payableCall.input, options);
  const data = parts.flatMap((part, index) => {
    const value = findCall(part);
    return value === null ? [] : [{ value, index }];
  });
  if (data.length > 1) {
    throw new OracleError('INPUT_INVALID', 'A message may have one data part', {
      field: `message.parts.${data[1].index}`,
      suggestedAction: 'Send one skill call per message.',
    });
  }
  if (data.length === 1) return planData(data[0].value, options);
  return planText(parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : [])).join('\n'), options);
}

function planData(value: unknown, options: PlanOptions): MessagePlan {
  const call = parseInput(CALL_INPUT, value, { kind: 'data part field', root: 'data' });
  return planCall(call.skill ?? options.skill, call.input, options);
}

function planText(text: string, options: PlanOptions): MessagePlan {
  const parsed = parseText(text, options.skill);
  if (parsed === null) return { do: 'ask', parts: buildSkillQuestion() };
  if ('missing' in parsed)
    return { do: 'ask', skill: parsed.skill, parts: [textPart(parsed.missing), dataPart({ example: getExample(parsed.skill) })] };
  return { ...planCall(parsed.skill, parsed.input, options), note: formatNote(parsed.skill, parsed.input) };
}

/** The call of a data part, or of a text part with its JSON, as text-only clients send it; null for plain text. */
function findCall({ content }: Part): object | null {
  if (content?.$case === 'data') return content.value;
  if (content?.$case !== 'text' || !content.value.trimStart().startsWith('{')) return null;
  const value = parseJsonOrNull(content.value) as { skill?: unknown } | null;
  return typeof value?.skill === 'string' ? value : null;
}

type CallPlan = Exclude<MessagePlan, { do: 'ask' } | { do: 'decline' }>;

function planCall(named: string | undefined, input: unknown, options: PlanOptions): CallPlan {
  const skill = findSkill(named);
  try {
    return { do: 'call', call: prepareCall(skill.id, input, options.caller) };
  } catch (error) {
    if (!isOracleError(error, 'UNAUTHENTICATED') && !isOracleError(error, 'TIER_REQUIRED')) throw error;
    const clientError = toClientError(error);
    return isForSale(skill, options.caller)
      ? planPaidCall(skill.id, input, { ...options, error: clientError })
      : { do: 'reject', skill: skill.id, error: clientError };
  }
}

/** Plans a call outside the caller's tier that can be paid for. @throws OracleError INPUT_INVALID before anything is paid */
function planPaidCall(
  skill: string,
  input: unknown,
  { payment, acceptsPaymentRequests, error }: PlanOptions & { error: ClientError },
): CallPlan {
  if (payment?.do === 'submit') return { do: 'sell', call: prepareCall(skill, input, PAYING_CALLER), payment };
  if (acceptsPaymentRequests === true) return { do: 'bill', call: prepareCall(skill, input, PAYING_CALLER), error };
  const suggestedAction = `${error.suggestedAction} ${PAYMENT_ADVICE}`;
  return { do: 'reject', skill, error: { ...error, suggestedAction } };
}

const PAYMENT_ADVICE = `Or pay for this answer: send the call with the header A2A-Extensions: ${EXTENSION_URIS.x402}, and the task returns the payment requirements in "${PAYMENT_METADATA.required}".`;

function formatNote(skill: string, input: Record<string, unknown>): string {
  return `Understood as ${skill}. To ask exactly this, send a data part ${JSON.stringify({ skill, input })}.`;
}

function buildSkillQuestion(): Part[] {
  const list = SKILLS.map(({ id, summary }) => `- ${id}: ${summary}.`);
  const example = getExample(SKILLS[0].id);
  return [
    textPart(`Which skill do you need?\n${list.join('\n')}\nReply with a text, or with a data part such as ${JSON.stringify(example)}.`),
    dataPart({ skills: SKILLS.map(({ id, summary, tier }) => ({ skill: id, summary, tier, example: getExample(id) })), example }),
  ];
}

function getExample(id: string): { skill: string; input: Record<string, unknown> } {
  return { skill: id, input: findSkill(id).examples[0].input };
}
