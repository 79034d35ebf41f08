import { A2A_LEGACY_VERSION, A2A_VERSION } from '../../../../agent-card/protocols.ts';
import { OracleError } from '../../../platform/errors.ts';

export type RejectionName = 'TaskNotCancelableError' | 'UnsupportedOperationError' | 'VersionNotSupportedError';

/** An error that the protocol sends under another name than its code would get. */
export class ProtocolRejection extends OracleError {
  readonly protocolName: RejectionName;

  constructor(protocolName: RejectionName, message: string, options: { field?: string; suggestedAction: string }) {
    super(protocolName === 'VersionNotSupportedError' ? 'INPUT_INVALID' : 'CONFLICT', message, options);
    this.protocolName = protocolName;
  }
}

/** The same for a missing task and for a task of another owner, so that ids cannot be probed. */
export function taskNotFound(): OracleError {
  const suggestedAction = 'Use the token or address that sent the task; ListTasks of A2A 1.0 lists your tasks.';
  return new OracleError('NOT_FOUND', 'Task not found', { field: 'id', suggestedAction });
}

export function callbackNotFound(): OracleError {
  const suggestedAction = 'ListTaskPushNotificationConfigs lists the callbacks of the task.';
  return new OracleError('NOT_FOUND', 'Callback not found', { field: 'id', suggestedAction });
}

export function taskNotCancelable(state: string): OracleError {
  const suggestedAction = 'Read the task with GetTask.';
  return new ProtocolRejection('TaskNotCancelableError', `The task has ended: ${state}`, { field: 'id', suggestedAction });
}

export function taskEnded(state: string): OracleError {
  const suggestedAction = 'Send the message without taskId to open a new task, optionally with the same contextId.';
  return new ProtocolRejection('UnsupportedOperationError', `The task has ended: ${state}`, { field: 'message.taskId', suggestedAction });
}

export function nothingToFollow(state: string): OracleError {
  const suggestedAction = 'Read the task with GetTask: it has no more events.';
  return new ProtocolRejection('UnsupportedOperationError', `The task has ended: ${state}`, { field: 'id', suggestedAction });
}

export function taskBusy(): OracleError {
  const message = 'The task is running and does not accept a message';
  const suggestedAction = 'Wait until it ends, or open another task.';
  return new ProtocolRejection('UnsupportedOperationError', message, { field: 'message.taskId', suggestedAction });
}

export function otherContext(): OracleError {
  const suggestedAction = 'Omit contextId, or send that of the task.';
  return new OracleError('INPUT_INVALID', 'The task belongs to another context', { field: 'message.contextId', suggestedAction });
}

export function noExtendedCard(): OracleError {
  const suggestedAction = 'Read the public card at /.well-known/agent-card.json.';
  return new ProtocolRejection('UnsupportedOperationError', 'There is no extended agent card', { suggestedAction });
}

export function unknownVersion(): OracleError {
  const suggestedAction = `Send A2A-Version: ${A2A_VERSION} or ${A2A_LEGACY_VERSION}.`;
  const message = 'Unsupported protocol version';
  return new ProtocolRejection('VersionNotSupportedError', message, { field: 'A2A-Version', suggestedAction });
}
