import type { Message, Part, Task } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { z } from 'zod';
import { EXTENSIONS } from '../../agent-card/extensions.ts';
import { SKILLS } from '../../skills/index.ts';
import { isForSale, PAYING } from '../../skills/paid-call.ts';
import { findSkill, prepareCall, type SkillCall } from '../../skills/runner.ts';
import { isOracleError, OracleError, type ToldError, toldError } from '../errors.ts';
import { parseInput } from '../parse-input.ts';
import type { Caller } from '../record/caller.ts';
import { userOf } from './owner.ts';
import { dataPart, textPart } from './parts.ts';
import { type Bill, billOf, isActivated, notedPayment, PAYMENT, type SentPayment } from './payment.ts';
import { skillOf } from './task-store.ts';
import { readText } from './text-call.ts';

/** What is to be done with a message; `note` says how a text was understood. */
export type Plan =
  | { do: 'call'; call: SkillCall; note?: string }
  /** Something is missing: `skill` is what is known of the call so far. */
  | { do: 'ask'; skill?: string; parts: Part[] }
  /** The caller may not have it. */
  | { do: 'reject'; skill: string; error: ToldError; note?: string }
  /** The caller may not have it without paying: `error` is why. */
  | { do: 'bill'; call: SkillCall; error: ToldError; note?: string }
  | { do: 'sell'; call: SkillCall; payment: SentPayment & { do: 'submit' }; note?: string }
  /** The caller does not want to pay. */
  | { do: 'decline'; skill: string };

const CALL = z.strictObject({ skill: z.string().optional(), input: z.record(z.string(), z.unknown()).optional() });

export interface PlanOptions {
  caller: Caller;
  /** The skill that earlier messages of the same task asked for. */
  skill?: string;
  /** What the task waits to be paid for. */
  bill?: Bill;
  /** What the message says of a payment. */
  payment?: SentPayment;
  /** Whether the caller knows what to do with a bill. */
  takesBills?: boolean;
}

/** The plan for a checked message to a task, which is undefined where the message opens one. */
export function planFor(message: Pick<Message, 'parts'>, task: Task | undefined, context: ServerCallContext): Plan {
  return planOf(message, {
    caller: userOf(context).asker.caller,
    ...(task === undefined ? {} : { skill: skillOf(task), bill: billOf(task) }),
    payment: notedPayment(context),
    takesBills: isActivated(context),
  });
}

/** The skill that is known to be asked for; undefined while it is not. */
export function skillIn(plan: Plan): string | undefined {
  return 'call' in plan ? plan.call.skill.id : plan.skill;
}

/**
 * Reads a checked message: the same message, caller and task give the same plan.
 * @throws OracleError INPUT_INVALID naming the part, `skill` or the field of the input
 */
export function planOf({ parts }: Pick<Message, 'parts'>, options: PlanOptions): Plan {
  const { bill, payment } = options;
  if (bill !== undefined && payment?.do === 'decline') return { do: 'decline', skill: bill.skill };
  // Whatever is said beside a payment is about the payment.
  if (bill !== undefined && payment !== undefined) return callOf(bill.skill, bill.input, options);
  const data = parts.flatMap((part, index) => {
    const value = callIn(part);
    return value === null ? [] : [{ value, index }];
  });
  if (data.length > 1) {
    throw new OracleError('INPUT_INVALID', 'A message asks for one skill: it has several data parts', {
      field: `message.parts.${data[1].index}`,
      suggestedAction: 'Send one data part; ask for the next skill in a message of its own.',
    });
  }
  if (data.length === 1) return ofData(data[0].value, options);
  return ofText(parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : [])).join('\n'), options);
}

function ofData(value: unknown, options: PlanOptions): Plan {
  const call = parseInput(CALL, value, { what: 'data part field', whole: 'data' });
  return callOf(call.skill ?? options.skill, call.input, options);
}

function ofText(text: string, options: PlanOptions): Plan {
  const read = readText(text, options.skill);
  if (read === null) return { do: 'ask', parts: whichSkill() };
  if ('missing' in read)
    return { do: 'ask', skill: read.skill, parts: [textPart(read.missing), dataPart({ example: exampleOf(read.skill) })] };
  return { ...callOf(read.skill, read.input, options), note: noteOf(read.skill, read.input) };
}

/** What a data part holds, or a text that belongs into one, as senders send it that know text only; null for words. */
function callIn({ content }: Part): object | null {
  if (content?.$case === 'data') return content.value;
  if (content?.$case !== 'text' || !content.value.trimStart().startsWith('{')) return null;
  try {
    const value = JSON.parse(content.value);
    return typeof value.skill === 'string' ? value : null;
  } catch {
    return null;
  }
}

type CallPlan = Exclude<Plan, { do: 'ask' } | { do: 'decline' }>;

function callOf(named: string | undefined, input: unknown, options: PlanOptions): CallPlan {
  const skill = findSkill(named);
  try {
    return { do: 'call', call: prepareCall(skill.id, input, options.caller) };
  } catch (error) {
    if (!isOracleError(error, 'UNAUTHENTICATED') && !isOracleError(error, 'TIER_REQUIRED')) throw error;
    const told = toldError(error);
    return isForSale(skill, options.caller)
      ? boughtOf(skill.id, input, { ...options, error: told })
      : { do: 'reject', skill: skill.id, error: told };
  }
}

/** A call that the caller's tier does not include, and that can be paid for. @throws OracleError INPUT_INVALID before anything is paid */
function boughtOf(skill: string, input: unknown, { payment, takesBills, error }: PlanOptions & { error: ToldError }): CallPlan {
  if (payment?.do === 'submit') return { do: 'sell', call: prepareCall(skill, input, PAYING), payment };
  if (takesBills === true) return { do: 'bill', call: prepareCall(skill, input, PAYING), error };
  const suggestedAction = `${error.suggestedAction} ${HOW_TO_PAY}`;
  return { do: 'reject', skill, error: { ...error, suggestedAction } };
}

const HOW_TO_PAY = `Or pay for this one answer: send the call with the header A2A-Extensions: ${EXTENSIONS.x402}, and the task says what to pay in "${PAYMENT.required}".`;

function noteOf(skill: string, input: Record<string, unknown>): string {
  return `Understood as ${skill}. To ask exactly this, send a data part ${JSON.stringify({ skill, input })}.`;
}

/** What a text that names no skill is answered with. */
function whichSkill(): Part[] {
  const list = SKILLS.map(({ id, summary }) => `- ${id}: ${summary}.`);
  const example = exampleOf(SKILLS[0].id);
  return [
    textPart(`Which skill do you want?\n${list.join('\n')}\nAnswer in words, or with a data part such as ${JSON.stringify(example)}.`),
    dataPart({ skills: SKILLS.map(({ id, summary, tier }) => ({ skill: id, summary, tier, example: exampleOf(id) })), example }),
  ];
}

function exampleOf(id: string): { skill: string; input: Record<string, unknown> } {
  return { skill: id, input: findSkill(id).examples[0].input };
}
