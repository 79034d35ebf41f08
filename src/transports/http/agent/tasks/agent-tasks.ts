import type { RequestContext } from '../../../../auth/request-context.ts';
import type { ClientError } from '../../../../platform/errors.ts';

/** A task as the interface tells it (sections 2.9 and 4.5), kept where tasks of the A2A protocol are. */
export interface AgentTask {
  /** A uuid. */
  id: string;
  /** Empty while it is not known. */
  skill: string;
  outcome: { status: 'completed'; output: Record<string, unknown> } | { status: 'failed'; error: ClientError } | { status: 'working' };
}

export interface AgentTaskRequest {
  skill: string;
  input: Record<string, unknown>;
  /** From the requesting agent, kept with the task. */
  metadata?: Record<string, unknown>;
}

/** Tasks of agents, each told to its own caller only. */
export interface AgentTasks {
  /** Carries a task out. @throws OracleError INPUT_INVALID for a request that is no task: nothing is kept of it */
  send(request: AgentTaskRequest, context: RequestContext): Promise<AgentTask>;
  /** Null when there is none of this id for this caller. */
  get(id: string, context: Pick<RequestContext, 'caller' | 'address'>): Promise<AgentTask | null>;
}
