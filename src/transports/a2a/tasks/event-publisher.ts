import { type Part, TaskState } from '@a2a-js/sdk';
import { AgentEvent, type ExecutionEventBus, type RequestContext } from '@a2a-js/sdk/server';
import type { SkillAnswer, SkillCall } from '../../../../skills/runner.ts';
import type { ClientError } from '../../../platform/errors.ts';
import { buildTaskStatus, dataPart, errorParts, textPart } from '../messages/parts.ts';
import type { MessagePlan } from '../messages/plan.ts';
import { buildTask } from './new-task.ts';

interface PublisherDeps {
  taskId: string;
  contextId: string;
  bus: ExecutionEventBus;
  now(): Date;
}

export interface StatusDetails {
  parts?: Part[];
  taskMetadata?: Record<string, unknown>;
  messageMetadata?: Record<string, unknown>;
}

export class TaskEventPublisher {
  readonly #deps: PublisherDeps;
  #note: Part[] = [];

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
  }

  /** Sets the text that final states include. @param note undefined for data parts */
  setNote(note: string | undefined): void {
    this.#note = note === undefined ? [] : [textPart(note)];
  }

  /** The protocol requires the task as the first event. */
  publishOpened({ task, userMessage }: RequestContext): void {
    const { taskId, contextId, bus, now } = this.#deps;
    bus.publish(AgentEvent.task(task ?? buildTask({ taskId, contextId, message: userMessage, at: now() })));
  }

  publishWorking(skill: string): void {
    this.publishStatus(TaskState.TASK_STATE_WORKING, { taskMetadata: { skill } });
  }

  publishInputRequired({ skill, parts }: MessagePlan & { do: 'ask' }): void {
    this.publishStatus(TaskState.TASK_STATE_INPUT_REQUIRED, { parts, taskMetadata: skill === undefined ? undefined : { skill } });
  }

  publishRejected({ skill, error }: MessagePlan & { do: 'reject' }): void {
    this.publishStatus(TaskState.TASK_STATE_REJECTED, { parts: [...errorParts(error), ...this.#note], taskMetadata: { skill } });
  }

  /** @param details of the payment, if there was one */
  publishFailed(error: ClientError, details: Omit<StatusDetails, 'parts'> = {}): void {
    this.publishStatus(TaskState.TASK_STATE_FAILED, { ...details, parts: [...errorParts(error), ...this.#note] });
  }

  /** @param details of the payment, if there was one */
  publishCompleted(
    { skill: { id, title } }: SkillCall,
    { output, text }: SkillAnswer,
    { tier, ...details }: StatusDetails & { tier: string },
  ): void {
    const { taskId, contextId, bus } = this.#deps;
    const artifact = {
      artifactId: id,
      name: id,
      description: title,
      parts: [dataPart(output), textPart(text)],
      metadata: { skill: id, tier },
      extensions: [],
    };
    bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined }));
    const parts = [...this.#note, ...(details.parts ?? [])];
    this.publishStatus(TaskState.TASK_STATE_COMPLETED, { ...details, parts: parts.length === 0 ? undefined : parts });
  }

  publishStatus(state: TaskState, { parts, taskMetadata, messageMetadata }: StatusDetails = {}): void {
    const { taskId, contextId, bus, now } = this.#deps;
    const status = buildTaskStatus({ taskId, contextId, state, at: now(), parts, messageMetadata });
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: taskMetadata }));
  }
}
