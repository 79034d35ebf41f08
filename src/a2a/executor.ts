import { type Part, TaskState } from '@a2a-js/sdk';
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from '@a2a-js/sdk/server';
import type { CarryOut, SkillAnswer, SkillCall } from '../../skills/runner.ts';
import type { Asker } from '../access/asker.ts';
import { type ToldError, toldError } from '../errors.ts';
import type { Log } from '../log.ts';
import { newTask } from './new-task.ts';
import { userOf } from './owner.ts';
import { dataPart, errorParts, statusOf, textPart } from './parts.ts';
import { type Plan, planOf } from './read-call.ts';
import { skillOf } from './task-store.ts';

export interface ExecutorParts {
  carryOut: CarryOut;
  /** Plays what a test kit asks for; true when it has answered. Unset: nothing of the kind. */
  playFixture?: (context: RequestContext, bus: ExecutionEventBus) => Promise<boolean>;
  log: Log;
  now(): Date;
}

/** Carries out the call of a message, and tells the task's way from its opening to its end. It never throws. */
export class SkillExecutor implements AgentExecutor {
  readonly #parts: ExecutorParts;
  /** Contexts of the tasks under way in this process, by task. */
  readonly #underWay = new Map<string, string>();

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
  }

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    if ((await this.#parts.playFixture?.(context, bus)) === true) return;
    const { taskId, contextId } = context;
    this.#underWay.set(taskId, contextId);
    const teller = new TaskTeller({ taskId, contextId, bus, now: this.#parts.now });
    try {
      await this.#carryOut(context, teller);
    } catch (error) {
      const told = toldError(error);
      if (told.code === 'INTERNAL')
        this.#parts.log.error({ err: error, taskId, requestId: userOf(context.context).asker.requestId }, 'a task failed');
      teller.failed(told);
    } finally {
      this.#underWay.delete(taskId);
    }
  }

  /** The stream ends with it; what the skill still does is not told any more. */
  async cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    const contextId = this.#underWay.get(taskId) ?? '';
    new TaskTeller({ taskId, contextId, bus, now: this.#parts.now }).status(TaskState.TASK_STATE_CANCELED, [
      textPart('Cancelled as asked.'),
    ]);
  }

  async #carryOut(context: RequestContext, teller: TaskTeller): Promise<void> {
    const { asker } = userOf(context.context);
    teller.opened(context);
    const plan = planOf(context.userMessage, { caller: asker.caller, skill: context.task && skillOf(context.task) });
    if (plan.do === 'ask') return teller.asked(plan);
    teller.understood(plan.note);
    if (plan.do === 'reject') return teller.rejected(plan);
    teller.working(plan.call.skill.id);
    const answer = await this.#parts.carryOut(plan.call, countedAs(asker));
    teller.answered(plan.call, answer, asker.caller.tier);
  }
}

/** Whoever comes from no socket is counted where he came in. */
function countedAs(asker: Partial<Asker> & Pick<Asker, 'caller' | 'address'>): Asker {
  const free = async () => undefined;
  return { requestId: 'none', countCall: free, countChainCall: free, ...asker };
}

interface TellerParts {
  taskId: string;
  contextId: string;
  bus: ExecutionEventBus;
  now(): Date;
}

/** Publishes the events of one task. */
class TaskTeller {
  readonly #parts: TellerParts;
  #note: Part[] = [];

  constructor(parts: TellerParts) {
    this.#parts = parts;
  }

  /** What is said at the end, whichever it is. @param note undefined where nothing was to be understood */
  understood(note: string | undefined): void {
    this.#note = note === undefined ? [] : [textPart(note)];
  }

  /** The protocol wants the task itself first. */
  opened({ task, userMessage }: RequestContext): void {
    const { taskId, contextId, bus, now } = this.#parts;
    bus.publish(AgentEvent.task(task ?? newTask({ taskId, contextId, message: userMessage, at: now() })));
  }

  working(skill: string): void {
    this.status(TaskState.TASK_STATE_WORKING, undefined, { skill });
  }

  asked({ skill, parts }: Plan & { do: 'ask' }): void {
    this.status(TaskState.TASK_STATE_INPUT_REQUIRED, parts, skill === undefined ? undefined : { skill });
  }

  rejected({ skill, error }: Plan & { do: 'reject' }): void {
    this.status(TaskState.TASK_STATE_REJECTED, [...errorParts(error), ...this.#note], { skill });
  }

  failed(error: ToldError): void {
    this.status(TaskState.TASK_STATE_FAILED, [...errorParts(error), ...this.#note]);
  }

  answered({ skill: { id, title } }: SkillCall, { output, text }: SkillAnswer, tier: string): void {
    const { taskId, contextId, bus } = this.#parts;
    const artifact = {
      artifactId: id,
      name: id,
      description: title,
      parts: [dataPart(output), textPart(text)],
      metadata: { skill: id, tier },
      extensions: [],
    };
    bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined }));
    this.status(TaskState.TASK_STATE_COMPLETED, this.#note.length === 0 ? undefined : this.#note);
  }

  status(state: TaskState, parts?: Part[], metadata?: Record<string, unknown>): void {
    const { taskId, contextId, bus, now } = this.#parts;
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: statusOf({ taskId, contextId, state, at: now(), parts }), metadata }));
  }
}
