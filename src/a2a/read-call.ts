import type { Message, Part } from '@a2a-js/sdk';
import { z } from 'zod';
import { SKILLS } from '../../skills/index.ts';
import { findSkill, prepareCall, type SkillCall } from '../../skills/runner.ts';
import { isOracleError, OracleError, type ToldError, toldError } from '../errors.ts';
import { parseInput } from '../parse-input.ts';
import type { Caller } from '../record/caller.ts';
import { dataPart, textPart } from './parts.ts';
import { readText } from './text-call.ts';

/** What is to be done with a message; `note` says how a text was understood. */
export type Plan =
  | { do: 'call'; call: SkillCall; note?: string }
  /** Something is missing: `skill` is what is known of the call so far. */
  | { do: 'ask'; skill?: string; parts: Part[] }
  /** The caller may not have it. */
  | { do: 'reject'; skill: string; error: ToldError; note?: string };

const CALL = z.strictObject({ skill: z.string().optional(), input: z.record(z.string(), z.unknown()).optional() });

export interface PlanOptions {
  caller: Caller;
  /** The skill that earlier messages of the same task asked for. */
  skill?: string;
}

/**
 * Reads a checked message: the same message, caller and task give the same plan.
 * @throws OracleError INPUT_INVALID naming the part, `skill` or the field of the input
 */
export function planOf({ parts }: Pick<Message, 'parts'>, options: PlanOptions): Plan {
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

function ofData(value: unknown, { caller, skill }: PlanOptions): Plan {
  const call = parseInput(CALL, value, { what: 'data part field', whole: 'data' });
  return callOf(call.skill ?? skill, call.input, caller);
}

function ofText(text: string, { caller, skill }: PlanOptions): Plan {
  const read = readText(text, skill);
  if (read === null) return { do: 'ask', parts: whichSkill() };
  if ('missing' in read)
    return { do: 'ask', skill: read.skill, parts: [textPart(read.missing), dataPart({ example: exampleOf(read.skill) })] };
  return { ...callOf(read.skill, read.input, caller), note: noteOf(read.skill, read.input) };
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

function callOf(skill: string | undefined, input: unknown, caller: Caller): Exclude<Plan, { do: 'ask' }> {
  const { id } = findSkill(skill);
  try {
    return { do: 'call', call: prepareCall(id, input, caller) };
  } catch (error) {
    if (!isOracleError(error, 'UNAUTHENTICATED') && !isOracleError(error, 'TIER_REQUIRED')) throw error;
    return { do: 'reject', skill: id, error: toldError(error) };
  }
}

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
