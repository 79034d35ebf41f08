import type { RequestContext } from '../../../../auth/request-context.ts';
import type { ClientError } from '../../../../platform/errors.ts';

/** A task of the REST interface (sections 2.9 and 4.5), in the same store as tasks of the A2A protocol. */
export interface AgentTask {
  id: string;
  /** Empty while unknown. */
  skill: string;
  outcome: { status: 'completed'; output: Record<string, unknown> } | { status: 'failed'; error: ClientError } | { status: 'working' };
}

interface AgentTaskRequest {
  skill: string;
  input: Record<string, unknown>;
  /** Stored with the task for the requesting agent. */
  metadata?: Record<string, unknown>;
}

export interface AgentTasks {
  /** Runs a task to its end. @throws OracleError INPUT_INVALID for an invalid request, which is not stored */
  send(request: AgentTaskRequest, context: RequestContext): Promise<AgentTask>;
  /** Null where this caller has no task of this id. */
  get(id: string, context: Pick<RequestContext, 'caller' | 'address'>): Promise<AgentTask | null>;
}
