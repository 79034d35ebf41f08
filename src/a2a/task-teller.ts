import { type Part, TaskState } from '@a2a-js/sdk';
import { AgentEvent, type ExecutionEventBus, type RequestContext } from '@a2a-js/sdk/server';
import type { SkillAnswer, SkillCall } from '../../skills/runner.ts';
import type { ToldError } from '../errors.ts';
import { newTask } from './new-task.ts';
import { dataPart, errorParts, statusOf, textPart } from './parts.ts';
import type { Plan } from './read-call.ts';

interface TellerParts {
  taskId: string;
  contextId: string;
  bus: ExecutionEventBus;
  now(): Date;
}

/** What is told with a state. */
export interface Telling {
  parts?: Part[];
  /** Metadata that the task keeps. */
  kept?: Record<string, unknown>;
  /** Metadata of the message: of the payment for the task. */
  said?: Record<string, unknown>;
}

/** Publishes the events of one task. */
export class TaskTeller {
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
    this.status(TaskState.TASK_STATE_WORKING, { kept: { skill } });
  }

  asked({ skill, parts }: Plan & { do: 'ask' }): void {
    this.status(TaskState.TASK_STATE_INPUT_REQUIRED, { parts, kept: skill === undefined ? undefined : { skill } });
  }

  rejected({ skill, error }: Plan & { do: 'reject' }): void {
    this.status(TaskState.TASK_STATE_REJECTED, { parts: [...errorParts(error), ...this.#note], kept: { skill } });
  }

  /** @param said of the payment, where one was sent */
  failed(error: ToldError, telling: Omit<Telling, 'parts'> = {}): void {
    this.status(TaskState.TASK_STATE_FAILED, { ...telling, parts: [...errorParts(error), ...this.#note] });
  }

  /** @param telling what is told of the payment, where there was one */
  answered({ skill: { id, title } }: SkillCall, { output, text }: SkillAnswer, { tier, ...telling }: Telling & { tier: string }): void {
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
    const parts = [...this.#note, ...(telling.parts ?? [])];
    this.status(TaskState.TASK_STATE_COMPLETED, { ...telling, parts: parts.length === 0 ? undefined : parts });
  }

  status(state: TaskState, { parts, kept, said }: Telling = {}): void {
    const { taskId, contextId, bus, now } = this.#parts;
    const status = statusOf({ taskId, contextId, state, at: now(), parts, said });
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: kept }));
  }
}
